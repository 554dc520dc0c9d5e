# SPDX-License-Identifier: MPL-2.0
# request.tcl --
#
#       A Tcl page: a script that handles its own URL.  It shows what the server knows
#       about the request.

if {[ns_conn method] ni {GET HEAD}} {
    ns_set update [ns_conn outputheaders] Allow "GET, HEAD"
    ns_returnnotice 405 "Method Not Allowed" "This page can only be read."
    return
}

set request [list \
    Method   [ns_conn method] \
    URL      [ns_conn url] \
    Query    [ns_conn query] \
    Protocol HTTP/[ns_conn version] \
    Address  [ns_conn peeraddr] \
    Thread   [ns_thread name]]

welcome::reply "A Tcl page" "
<p>This page is a script. It asks <code>ns_conn</code> about your request, builds some HTML, and sends it.</p>
<h2>Your request</h2>
[welcome::table $request]
<h2>Its header fields</h2>
[welcome::table [ns_set array [ns_conn headers]]]" \
    "A connection thread, for microseconds: the script is compiled once and kept." {requests connection replies}
