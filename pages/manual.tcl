# SPDX-License-Identifier: MPL-2.0
# manual.tcl --
#
#       A page of the manual: manual.tcl?page=NAME.

set name [ns_queryget page README]
set content [welcome::manualPage $name]

set links ""
foreach page [welcome::manualPages] {
    set mark [expr {$page eq $name ? { aria-current="page"} : ""}]
    append links "<li><a href=\"manual.tcl?page=[ns_urlencode $page]\"$mark>" \
        [expr {$page eq "README" ? "contents" : [ns_quotehtml $page]}] "</a></li>\n"
}
set status 200
if {$content eq ""} {
    set status 404
    set content "<h1>No such page</h1>\n<p>The manual has no page “[ns_quotehtml $name]”.</p>"
}

ns_return $status text/html "[welcome::top "Manual: $name"]
<div class=\"manual\">
<nav aria-label=\"Manual\"><ul>
$links</ul></nav>
<article>
$content
</article>
</div>
[welcome::bottom]"
