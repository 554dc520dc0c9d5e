<% page::variables %>
<h1><%= [_ nav.search] %></h1>
<form class="wide" action="/search"><input type="hidden" name="_charset_">
<input type="search" name="q" value="<%= [h $q] %>" aria-label="<%= [_ nav.search] %>"><button><%= [_ nav.search] %></button>
</form>
<% if {$q ne ""} { %>
<p class="faint"><%= [_ search.[expr {[llength $posts] ? "found" : "none"}] n [llength $posts] words [h $q]] %></p>
<% } %>
<% foreach post $posts { dict with post { %>
<article class="box">
<h2><a href="<%= [sitemap::boardUrl $board_id] %>/topic?id=<%= $topic_id %>#post-<%= $id %>"><%= [h $title] %></a></h2>
<p class="faint"><%= [_ board.by name [h $author]] %> · <%= [site::time $created] %></p>
<p><%= [h [string range $body 0 300]] %></p>
</article>
<% }} %>
