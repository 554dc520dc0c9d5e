# SPDX-License-Identifier: MPL-2.0
# api.tcl --
#
#       How to use the JSON API in tasks.tcl.  A page answers GET and POST only, so that
#       is made of registered procedures.

set url [ns_quotehtml [ns_conn location]/examples/tasks]

welcome::reply "A JSON API" "
<p>A list of tasks that programs read and change, with the statuses that they expect. Try it in a terminal:</p>
<pre tabindex=\"0\" role=\"region\" aria-label=\"Commands\">u=$url
curl -i \$u
curl -i --json '{\"title\": \"write a test\"}' \$u
curl -i \"\$u?id=1\"
curl -i -X DELETE \"\$u?id=1\"
curl -i --json '{\"title\": 7' \$u
curl -i -X PUT \$u</pre>
<p><a href=\"tasks\">The list now</a></p>" \
    "A connection thread for each request, for microseconds, and memory for a hundred tasks." \
    {text#json forms#json shared-data requests} "" [list $welcome::library/tasks.tcl]
