# SPDX-License-Identifier: MPL-2.0
# events.tcl --
#
#       Server-sent events: the server tells all pages that listen, each second.

if {![ns_queryexists listen]} {
    return [welcome::reply "Server-sent events" {<p>It is <b id="time">not known when</b> at the server.</p>
<p class="note">With scripts only: the browser listens to <code>events.tcl?listen=1</code>, and connects again by
itself when it has to.</p>} "A connection, and no thread: a hundred pages may listen here, the next one gets 503." \
        {sockets#connections-without-a-thread process#scheduled-procedures} {<script type="module" src="events.js"></script>} events.js]
}

if {[nsv_array size listeners] >= 100} { return [ns_returnunavailable] }

# The connection leaves its thread; from now on it is a name that all threads know.
set channel [ns_connchan detach]
set head {"HTTP/1.1 200 OK" "Content-Type: text/event-stream" "Cache-Control: no-store" "Connection: close"}
ns_connchan write $channel "[join $head \r\n]\r\n\r\nretry: 2000\n\n"
nsv_set listeners $channel 1

# It ends when the page goes (there is something to read: the end), or the server stops.
ns_connchan callback $channel [list apply {{channel reason} {
    if {$reason eq "r" && [ns_connchan read $channel] ne ""} { return 1 }
    nsv_unset -nocomplain listeners $channel
    return 0
}} $channel] rx

# The first one starts the clock.  One that takes nothing for long is left behind.
if {[nsv_incr listeners.clock starts] == 1} {
    ns_schedule_proc 1 {
        foreach channel [nsv_array names listeners] {
            if {[catch {
                ns_connchan write $channel "data: [clock format [clock seconds] -format %H:%M:%S]\n\n"
                dict get [ns_connchan status $channel] sendbuffer
            } nWaiting] || $nWaiting > 10000} {
                nsv_unset -nocomplain listeners $channel
                catch {ns_connchan close $channel}
            }
        }
    }
}
