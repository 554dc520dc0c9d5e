# nsstats.tcl --
#
#       What the process does: pools, requests, threads, locks, logs and more.
#       Clients on this machine may look; with a user and password in section
#       ns/module/nsstats, those who know them, from anywhere.

switch -- [welcome::monitor::access] {
    disabled     { ns_returnnotfound }
    forbidden    { ns_returnforbidden }
    unauthorized { ns_returnunauthorized }
    ok {
        set view [ns_queryget view pools]
        set content [welcome::monitor::view $view]
        set status 200
        if {$content eq ""} {
            set status 404
            set content "<h1>No such view</h1>\n"
        }
        set links ""
        foreach {name title} $welcome::monitor::views {
            set mark [expr {$name eq $view ? { aria-current="page"} : ""}]
            append links "<li><a href=\"nsstats.tcl?view=$name\"$mark>$title</a></li>\n"
        }
        ns_set update [ns_conn outputheaders] Cache-Control no-store
        ns_return $status text/html "[welcome::top Monitor]
<div class=\"manual\">
<nav aria-label=\"Views\"><ul>
$links</ul></nav>
<article>
$content</article>
</div>
[welcome::bottom]"
    }
}
