<% page::variables %>
<h1><%= [_ board.new] %></h1>
<form class="box stack" action="<%= $url %>/new" method="post" enctype="multipart/form-data" data-progress="/progress">
<%= [page::formFields] %>
<label><%= [_ topic.title] %><input name="title" required maxlength="200"></label>
<label><%= [_ topic.body] %><textarea name="body" rows="8" required></textarea></label>
<p class="faint"><%= [_ topic.help] %></p>
<label><%= [_ topic.files] %><input type="file" name="files" multiple></label>
<progress max="1" value="0" hidden></progress>
<button><%= [_ topic.send] %></button>
</form>
