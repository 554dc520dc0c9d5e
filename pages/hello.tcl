# hello.tcl --
#
#       A Tcl page: a script that runs when its URL is asked for, and answers.

set request [list \
    Method   [ns_conn method] \
    URL      [ns_conn url] \
    Query    [ns_conn query] \
    Protocol HTTP/[ns_conn version] \
    Address  [ns_conn peeraddr] \
    Thread   [ns_thread name]]

set html [welcome::top "A Tcl page"]
append html "<h1>A Tcl page</h1>
<p>This page is a script. It asks <code>ns_conn</code> about your request, builds some HTML, and sends it with
<code>ns_return</code>.</p>
<h2>Your request</h2>
[welcome::table $request]
<h2>Its header fields</h2>
[welcome::table [ns_set array [ns_conn headers]]]
[welcome::source [ns_url2file [ns_conn url]]]
[welcome::bottom]"

ns_return 200 text/html $html
