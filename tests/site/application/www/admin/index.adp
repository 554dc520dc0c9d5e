<% page::variables %>
<h1><%= [_ nav.admin] %></h1>
<div class="columns">
<div>
<section class="box"><h2><%= [_ admin.boards] %></h2>
<table><tbody>
<% foreach board $boards { dict with board { %>
<tr><td><a href="<%= [sitemap::boardUrl $id] %>"><%= [h $name] %></a></td><td><%= [h $about] %></td><td class="number"><%= $n_posts %></td></tr>
<% }} %>
</tbody></table></section>
<form class="box stack" action="/admin/board" method="post"><%= [page::formFields] %>
<h2><%= [_ admin.create] %></h2>
<label><%= [_ account.name] %><input name="name" required></label>
<label><%= [_ admin.about] %><input name="about" required></label>
<label><%= [_ admin.url] %><input name="url" required pattern="[a-z][a-z0-9\-]*"></label>
<label class="check"><input type="checkbox" name="members"> <%= [_ admin.members] %></label>
<button><%= [_ admin.create] %></button>
</form>
</div>
<aside>
<section class="box"><h2><%= [_ admin.mail] %></h2>
<table><tbody>
<% foreach message $mail { dict with message { %>
<tr><td><%= [h $recipient] %></td><td><%= [h $subject] %></td><td class="number"><%= $n_attempts %></td></tr>
<% }} %>
</tbody></table></section>
<section class="box"><h2><%= [_ admin.sessions] %></h2><p><%= $nSessions %></p>
<h2><%= [_ admin.keys] %></h2>
<ul class="plain"><% foreach key $keys { %><li><%= [dict get $key id] %> <span class="faint"><%= [site::time [dict get $key created]] %></span></li><% } %></ul>
<form action="/admin/rotate" method="post"><%= [page::formFields] %><button class="quiet"><%= [_ admin.rotate] %></button></form>
</section>
</aside>
</div>
