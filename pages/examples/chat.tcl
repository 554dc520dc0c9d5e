# SPDX-License-Identifier: MPL-2.0
# chat.tcl --
#
#       A chat: what one page says, all hear, by WebSocket.

if {[ns_set iget [ns_conn headers] upgrade] eq ""} {
    return [welcome::reply "A chat" {<form class="line">
<label for="text">You say</label><input id="text" maxlength="300" autocomplete="off" required>
<button>Send</button>
</form>
<p id="state" role="status">Not connected: this page needs scripts.</p>
<ul class="entries" id="said" aria-live="polite"></ul>} \
        "A connection, and no thread; a few kilobytes of memory for each page that is open." {websocket} {<script type="module" src="chat.js"></script>} chat.js]
}

if {[llength [ns_websocket list chat]] >= 100} { return [ns_returnunavailable] }

# The scripts run in another interpreter, so they are given as words, not as names of
# procedures of this page.
ns_websocket upgrade -maxmessage 2kB -maxqueue 100kB -onopen [list apply {channel {
    ns_websocket subscribe $channel chat
    ns_websocket multicast chat "Somebody has come; [llength [ns_websocket list chat]] are here."
}}] -onmessage [list apply {{channel type data} {
    if {$type ne "text" || [string length $data] > 300} {
        return [ns_websocket close $channel 1008 "A message is a text of at most 300 characters."]
    }
    ns_websocket multicast chat $data
}}] -onclose [list apply {{channel code reason} {
    ns_websocket multicast chat "Somebody has left."
}}]
