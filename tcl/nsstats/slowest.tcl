# SPDX-License-Identifier: MPL-2.0
# slowest.tcl --
#
#       The slowest requests of all servers, and those that failed.

#
# Rows of requests that have ended.
#
proc nsstats::SlowRows {servers args} {
    set rows {}
    foreach server $servers {
        foreach request [ns_server -server $server slowest {*}$args] {
            dict with request {
                lappend rows [list $duration $queue $filter $run $status $method $url $peer $server [poolName $pool] $thread \
                    [clock format [expr {int($time)}] -format "%Y-%m-%d %H:%M:%S"] \
                    [expr {[dict exists $request request_id] ? [list $request_id [list view messages find $request_id]] : [list $id ""]}] $bytes]
            }
        }
    }
    return $rows
}

#
# The table of them; errors: of those with a status of 500 and more; limit: so many, or
# all; since: that ended then, in seconds, or later.
#
proc nsstats::slowTable {servers errors {limit 0} {since 0}} {
    set rows [SlowRows $servers -since $since {*}[expr {$errors ? "-errors" : ""}]]
    # Of several servers, each is sorted by itself.
    set rows [expr {$errors ? [lsort -decreasing -index 11 $rows] : [lsort -real -decreasing -index 0 $rows]}]
    if {$limit > 0} { set rows [lrange $rows 0 $limit-1] }
    return [table [expr {$errors ? "The last requests that failed" : "The slowest requests of the last hour"}] {
        Duration time Queue time Filter time Run time Status text Method text URL wide Peer text Server text Pool text
        Thread line Time line Id link Sent bytes
    } $rows]
}
