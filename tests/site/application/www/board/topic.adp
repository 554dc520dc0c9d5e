<% page::variables %>
<p class="path"><a href="<%= $url %>"><%= [h [dict get $topic board]] %></a></p>
<div class="head">
<h1><%= [h $title] %></h1>
<% if {[conn account_id]} { %>
<form action="<%= $url %>/subscribe" method="post"><%= [page::formFields] %>
<input type="hidden" name="id" value="<%= $id %>">
<% if {!$isSubscribed} { %><input type="hidden" name="on" value="1"><% } %>
<button class="quiet"><%= [_ topic.[expr {$isSubscribed ? "unsubscribe" : "subscribe"}]] %></button></form>
<% } %>
</div>
<% foreach post $posts { ns_adp_append [page::include board/post post $post url $url] } %>
<p id="news" class="notice" data-topic="<%= $id %>" data-text="<%= [h [_ topic.new]] %>" hidden></p>
<% if {$mayWrite} { %>
<form id="reply" class="box stack" action="<%= $url %>/reply" method="post" enctype="multipart/form-data" data-progress="/progress">
<%= [page::formFields] %><input type="hidden" name="id" value="<%= $id %>">
<label><%= [_ topic.reply] %><textarea name="body" rows="5" required></textarea></label>
<p class="faint"><%= [_ topic.help] %></p>
<label><%= [_ topic.files] %><input type="file" name="files" multiple></label>
<progress max="1" value="0" hidden></progress>
<button><%= [_ topic.send] %></button>
</form>
<% } elseif {![conn account_id]} { %>
<p class="box"><a href="/account/login?return=<%= [ns_urlencode $url/topic?id=$id] %>"><%= [_ topic.login] %></a></p>
<% } %>
