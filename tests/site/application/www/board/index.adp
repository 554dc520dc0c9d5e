<% page::variables %>
<div class="head">
<div>
<h1><%= [h $title] %></h1>
<p class="faint"><%= [h [dict get $board about]] %></p>
</div>
<% if {[permission::has write $boardId]} { %><a class="button" href="<%= $url %>/new"><%= [_ board.new] %></a><% } %>
</div>
<% if {$topics eq ""} { %>
<p class="box faint"><%= [_ board.empty] %></p>
<% } else { %>
<table class="box topics">
<thead><tr><th><%= [_ board.topic] %></th><th class="number"><%= [_ board.replies] %></th><th class="number"><%= [_ board.views] %></th><th><%= [_ board.latest] %></th></tr></thead>
<tbody>
<% foreach topic $topics { dict with topic { %>
<tr>
<td><a href="<%= $url %>/topic?id=<%= $id %>"><%= [h $title] %></a><br><span class="faint"><%= [_ board.by name [h $author]] %></span></td>
<td class="number"><%= $n_posts %></td><td class="number"><%= $n_views %></td><td><%= [site::time $last_post] %></td>
</tr>
<% }} %>
</tbody>
</table>
<% } %>
<p class="pages">
<% if {$page > 0} { %><a rel="prev" href="<%= $url %>?page=<%= [expr {$page - 1}] %>"><%= [_ board.newer] %></a><% } %>
<% if {!$isLast} { %><a rel="next" href="<%= $url %>?page=<%= [expr {$page + 1}] %>"><%= [_ board.older] %></a><% } %>
<a href="<%= $url %>/export"><%= [_ board.export] %></a>
</p>
