<% page::variables %>
<form class="box stack narrow" action="/account/register" method="post"><%= [page::formFields] %>
<h1><%= [_ nav.register] %></h1>
<% if {$problem ne ""} { %><p class="problem" role="alert"><%= [h $problem] %></p><% } %>
<label><%= [_ account.name] %><input name="name" value="<%= [h $name] %>" required autocomplete="username"></label>
<label><%= [_ account.email] %><input name="email" type="email" value="<%= [h $email] %>" required autocomplete="email"></label>
<label><%= [_ account.password] %><input name="password" type="password" required minlength="8" autocomplete="new-password">
<span class="faint"><%= [_ account.password.hint] %></span></label>
<button><%= [_ nav.register] %></button>
<p class="faint"><%= [_ account.member] %> <a href="/account/login"><%= [_ nav.login] %></a></p>
</form>
