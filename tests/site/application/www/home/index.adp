<% page::variables %>
<% if {![conn account_id]} { %>
<section class="hero">
<h1><%= [_ home.welcome site [h [site::title]]] %></h1>
<p><%= [_ home.lead] %></p>
<p><a class="button" href="/account/register"><%= [_ nav.register] %></a></p>
</section>
<% } %>
<div class="columns">
<div>
<ul class="boards">
<% foreach board $boards { %>
<li class="box">
<a class="cover" href="<%= [sitemap::boardUrl [dict get $board id]] %>">
<h2><%= [h [dict get $board name]] %></h2>
<p><%= [h [dict get $board about]] %></p>
<p class="faint"><%= [_ board.posts n [dict get $board n_posts]] %></p>
</a>
</li>
<% } %>
</ul>
</div>
<aside>
<% foreach portlet [portlet::all] { ns_adp_append [$portlet html] } %>
</aside>
</div>
