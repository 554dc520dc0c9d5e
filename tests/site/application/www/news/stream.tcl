# Server-sent events about new posts.

news::listen
