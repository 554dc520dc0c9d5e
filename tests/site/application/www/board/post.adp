<%
    # One post.  Variables: post, url.
    page::variables
    dict with post {}
%>
<article class="box post" id="post-<%= $id %>">
<p class="byline"><%= [site::avatar $author] %><strong><%= [h $author] %></strong> <a class="faint" href="#post-<%= $id %>"><%= [site::time $created] %></a></p>
<%= [site::markup $body] %>
<% foreach file $files { dict with file { %>
<p class="file">
<% if {[regexp {^image/(png|jpeg|gif|webp)$} $mime_type]} { %><a href="<%= $url %>/file?id=<%= $id %>"><img src="<%= $url %>/file?id=<%= $id %>" alt="<%= [h $name] %>" loading="lazy"></a>
<% } else { %><a href="<%= $url %>/file?id=<%= $id %>" download><%= [h $name] %></a> <span class="faint"><%= [site::size $bytes] %></span><% } %>
</p>
<% }} %>
<% if {[conn account_id]} { %>
<form action="<%= $url %>/thank" method="post"><%= [page::formFields] %>
<button class="quiet" name="id" value="<%= [dict get $post id] %>"><%= [_ topic.thanks] %> <% if {$n_thanks} { %><span class="count"><%= $n_thanks %></span><% } %></button></form>
<% } elseif {$n_thanks} { %>
<p class="faint"><%= [_ topic.thanks] %> <span class="count"><%= $n_thanks %></span></p>
<% } %>
</article>
