<% page::variables %>
<section class="box narrow center">
<p class="huge" aria-hidden="true"><%= $status %></p>
<h1><%= [h $title] %></h1>
<p><%= [_ error.$status.text] %></p>
<p><a class="button" href="/"><%= [_ error.home] %></a></p>
</section>
