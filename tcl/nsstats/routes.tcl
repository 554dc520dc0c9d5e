# SPDX-License-Identifier: MPL-2.0
# routes.tcl --
#
#       Which handlers and pages take the time.

#
# The table of all servers, what takes most of the time first.
#
proc nsstats::routeTable {servers} {
    set rows {}
    set all 0.0
    foreach server $servers {
        dict for {route figures} [ns_server -server $server routes] {
            set n [dict get $figures requests]
            set run [dict get $figures run]
            set all [expr {$all + $run}]
            lappend rows [list $run $route $server $n [dict get $figures 4xx] [dict get $figures 5xx] \
                [Quotient $run $n] [dict get $figures p50] [dict get $figures p99] [dict get $figures max] \
                [dict get $figures bytes]]
        }
    }
    set rows [lmap row $rows { linsert $row 1 [expr {$all > 0 ? [lindex $row 0] / $all : 0.0}] }]
    return [table "" {
        Run time Share use Route text Server text Requests count 4xx count 5xx count Mean time "50 %" time "99 %" time
        Longest time Sent bytes
    } $rows {0 down}]
}

#
# The same for a monitoring system, if it wants it: each route is some series.
#
proc nsstats::RouteMetrics {} {
    if {![ns_config -bool ns/module/nsstats routes false]} { return {} }
    set counts {}
    set times {}
    set bytes {}
    foreach server [ns_info servers] {
        dict for {route figures} [ns_server -server $server routes] {
            set labels [dict create server $server route $route]
            foreach class {none 1xx 2xx 3xx 4xx 5xx} {
                set n [dict get $figures $class]
                if {$n > 0} { lappend counts "" [dict replace $labels class $class] $n }
            }
            lappend times "" $labels [dict get $figures run]
            lappend bytes "" $labels [dict get $figures bytes]
        }
    }
    return [list \
        [Family counter nsd_route_requests "Requests of a route by class of status; none: without a reply." $counts] \
        [Family counter nsd_route_run_seconds "Total time that the handler of a route has run." $times] \
        [Family counter nsd_route_sent_bytes "Bytes that were sent for requests of a route." $bytes]]
}
