<%
    # Every page's frame.  Variables: title, content.
    page::variables
    set accountId [conn account_id]
%><!DOCTYPE html>
<html lang="<%= [conn locale] %>">
<head>
<meta charset="<%= [i18n::charset [conn locale]] %>">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title><%= [h $title] %></title>
<link rel="stylesheet" href="/resources/style.css">
<link rel="icon" href="/resources/icon.svg" type="image/svg+xml">
<script src="/resources/site.js" defer></script>
</head>
<body>
<header>
<nav>
<a class="brand" href="/"><%= [h [site::title]] %></a>
<a href="/"><%= [_ nav.home] %></a>
<a href="/chat"><%= [_ nav.chat] %></a>
<% if {$accountId && [dict get [conn account] is_admin]} { %><a href="/admin"><%= [_ nav.admin] %></a><% } %>
<form class="search" action="/search" role="search">
<input type="hidden" name="_charset_">
<input type="search" name="q" placeholder="<%= [_ nav.search] %>" aria-label="<%= [_ nav.search] %>">
</form>
<% if {$accountId} { %>
<a class="me" href="/account/settings"><%= [site::avatar [account::name $accountId]] %><span><%= [h [account::name $accountId]] %></span></a>
<form action="/account/logout" method="post"><%= [page::formFields] %><button class="link"><%= [_ nav.logout] %></button></form>
<% } else { %>
<a href="/account/login"><%= [_ nav.login] %></a>
<a class="button" href="/account/register"><%= [_ nav.register] %></a>
<% } %>
</nav>
</header>
<main>
<%= $content %>
</main>
<footer>
<% foreach locale [i18n::locales] { %>
<a href="/locale?locale=<%= $locale %>" hreflang="<%= $locale %>"><%= $locale %></a>
<% } %>
</footer>
</body>
</html>
