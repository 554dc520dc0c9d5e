<% page::variables %>
<form class="box stack narrow" action="/account/login" method="post"><%= [page::formFields] %>
<h1><%= [_ nav.login] %></h1>
<% if {$problem ne ""} { %><p class="problem" role="alert"><%= [h $problem] %></p><% } %>
<input type="hidden" name="return" value="<%= [h $return] %>">
<label><%= [_ account.name] %><input name="name" value="<%= [h $name] %>" required autocomplete="username"></label>
<label><%= [_ account.password] %><input name="password" type="password" required autocomplete="current-password"></label>
<button><%= [_ nav.login] %></button>
<p class="faint"><%= [_ account.guest] %> <a href="/account/register"><%= [_ nav.register] %></a></p>
</form>
