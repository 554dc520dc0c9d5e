# SPDX-License-Identifier: MPL-2.0
# The request of a browser for its WebSocket.

permission::requireMember
chat::connect
