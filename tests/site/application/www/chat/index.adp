<% page::variables %>
<h1><%= [_ nav.chat] %></h1>
<div class="columns">
<section class="box chat" data-chat="/chat/connect">
<ol id="messages" aria-live="polite">
<% foreach message $messages { dict with message { %>
<li data-id="<%= $id %>"><%= [site::avatar $name] %><strong><%= [h $name] %></strong> <span><%= [h $body] %></span></li>
<% }} %>
</ol>
<p id="lost" class="problem" hidden><%= [_ chat.lost] %></p>
<form id="say"><input name="text" maxlength="2000" autocomplete="off" placeholder="<%= [_ chat.say] %>" aria-label="<%= [_ chat.say] %>"><button><%= [_ chat.send] %></button></form>
</section>
<aside><section class="box"><h2><%= [_ chat.here] %></h2>
<%= [site::people $members] %></section></aside>
</div>
