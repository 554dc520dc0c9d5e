# The request of a browser for its WebSocket.

permission::requireMember
chat::connect
