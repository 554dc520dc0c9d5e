<% page::variables %>
<form class="box stack narrow" action="/account/settings" method="post"><%= [page::formFields] %>
<h1><%= [_ nav.settings] %></h1>
<% if {$problem ne ""} { %><p class="problem" role="alert"><%= [h $problem] %></p><% } %>
<% if {$isSaved} { %><p class="notice" role="status"><%= [_ account.saved] %></p><% } %>
<label><%= [_ account.email] %><input name="email" type="email" value="<%= [h $email] %>" required></label>
<label><%= [_ account.language] %><select name="locale">
<% foreach choice [i18n::locales] { %><option<% if {$choice eq $locale} { %> selected<% } %>><%= $choice %></option><% } %>
</select></label>
<button><%= [_ account.save] %></button>
</form>
