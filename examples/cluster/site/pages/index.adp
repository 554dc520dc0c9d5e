<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The board</title>
</head>
<body>
<h1>The board</h1>
<%= [board::form] %>
<ul>
<%= [board::notes] %></ul>
<p>This page was made by machine <b><%= $board::machine %></b>.</p>
</body>
</html>
