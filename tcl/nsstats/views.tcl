# SPDX-License-Identifier: MPL-2.0
# views.tcl --
#
#       What the monitor shows: one procedure per view, which gives its blocks.

#
# Name and title of each view.
#
proc nsstats::titles {} {
    return {
        overview Overview
        requests Requests
        routes   Routes
        pools    Pools
        times    Times
        threads  Threads
        locks    Locks
        memory   Memory
        logs     Logs
        messages Messages
        caches   Caches
        drivers  Drivers
        schedule Schedule
        jobs     Jobs
        handlers Handlers
        config   Configuration
    }
}

proc nsstats::names {} { return [dict keys [titles]] }

proc nsstats::view {name} { return [View-$name] }

#
# A script is shown by its first line.
#
proc nsstats::Short {script} {
    set text [string trim $script]
    # No argument.
    if {$text eq "a:(nil)"} { return "" }
    set line [lindex [split $text \n] 0]
    if {[string length $line] > 160} { set line [string range $line 0 159] }
    return [expr {$line eq $text ? $line : "$line …"}]
}

proc nsstats::Quotient {sum n} { return [expr {$n == 0 ? "" : double($sum) / $n}] }

proc nsstats::Series {changes args} {
    set series {}
    foreach {label key} $args {
        lappend series $label [lmap change $changes { dict get $change $key }]
    }
    return $series
}

#
# Ranges of time: what is asked for, in seconds, and the choice of one.
#
proc nsstats::Range {default} {
    set range [expr {[ns_conn isconnected] ? [ns_queryget range] : ""}]
    return [expr {$range in {300 1800 86400} ? $range : $default}]
}
proc nsstats::RangeChoices {default more} {
    return [choices Time range [Range $default] [concat $more {300 "5 minutes" 1800 "30 minutes" 86400 "24 hours"}]]
}

proc nsstats::View-overview {} {
    set samples [history [Range 1800]]
    set changes [changes $samples]
    set now [lindex $samples end]
    set last [expr {$changes eq "" ? [dict create requests 0.0 cpu 0.0] : [lindex $changes end]}]
    set since [expr {[dict get $now time] - [dict get [lindex $samples 0] time]}]
    set axis [list "[Text time $since] ago" now]
    set labels [lmap change $changes { dict get $change time }]
    set severities [ns_logctl stats]
    set blocks [list \
        [alerts [concat [SinkTroubles] [CertificateTroubles]]] \
        [figures [list \
            "Requests/s" number [dict get $last requests] \
            "Requests" count [dict get $now requests] \
            "Replies 5xx, last 5 min" count [growth [history 300] 5xx 300] \
            "Refused" count [dict get $now dropped] \
            "Running" count [expr {[dict get $now current] - [dict get $now idle]}] \
            "Waiting" count [dict get $now waiting] \
            "Threads" count [dict get $now current] \
            "CPU" share [dict get $last cpu] \
            "Memory" bytes [dict get $now memory] \
            "Log lines" count [dict get $now lines] \
            "Log lines pending" count [dict get $now pending] \
            "Log lines lost" count [dict get $now lost] \
            "Warnings" count [dict get $severities Warning] \
            "Errors" count [dict get $severities Error]] {
            "Replies 5xx, last 5 min" {bad {view requests}}
            "Refused" {bad {view pools}}
            "Waiting" {ok {view requests}}
            "Running" {ok {view requests}}
            "Threads" {ok {view threads}}
            "Memory" {ok {view memory}}
            "Log lines pending" {ok {view logs}}
            "Log lines lost" {bad {view logs}}
            "Warnings" {ok {view messages severity Warning}}
            "Errors" {bad {view messages severity Error}}
        }] \
        [RangeChoices 1800 {}]]
    foreach {title type lines} {
        "Replies per second by status" number {2xx 2xx 3xx 3xx 4xx 4xx 5xx 5xx}
        "Requests per second" number {requests requests}
        "Mean times of a request" time {run runtime filter filtertime queue queuetime accept accepttime}
        "Percentiles of a request" time {"run 99 %" runp99 "run 50 %" runp50 "queue 99 %" queuep99 "queue 50 %" queuep50}
        "Connection threads and queue" count {threads current busy busy waiting waiting}
        "CPU" share {"of one processor" cpu}
        "Memory" bytes {resident memory}
        "Log lines per second" number {delivered lines}
    } { lappend blocks [chart $title $type [Series $changes {*}$lines] $axis $labels] }
    return $blocks
}

proc nsstats::View-requests {} {
    set may [mayAct]
    set rows {}
    forPools {server pool} {
        foreach request [ns_server -server $server -pool $pool all -long] {
            dict with request {
                # The request that asks could not answer itself, nor should it end itself.
                set isOther [expr {![ns_conn isconnected] || $id ne "cns[ns_conn id]" || $server ne [ns_conn server]}]
                set canAct [expr {$isOther && $state eq "running"}]
                set row [list [list $id [expr {$canAct ? [list view requests stack $server/$id] : ""}]] \
                    $state [expr {$queue + $run}] $queue $run $method $url [Handler $server $method $path] $host $peer \
                    $server [poolName $pool] $bytes]
                if {$may} { set row [linsert $row 1 [expr {$canAct ? [list Cancel cancel $server/$id] : ""}]] }
                lappend rows $row
            }
        }
    }
    set columns {
        Id link State word Elapsed time Waited time "Running for" time Method text URL wide Handler wide Host text
        Peer text Server text Pool text Sent bytes
    }
    if {$may} { set columns [linsert $columns 2 "" action] }
    set blocks [list [table "" $columns $rows [list [expr {2 + $may}] down]]]
    set asked [ns_queryget stack]
    if {$asked ne ""} {
        set problem ""
        lappend blocks [table "Tcl stack of $asked, innermost first" {
            Level id Kind text Procedure text File line Line id Command text
        } [StackRows $asked problem]]
        lappend blocks [note [expr {$problem eq "" ? "" : "[string totitle $problem 0 0]."}]]
    }
    set limit [expr {[ns_queryget all] eq "1" ? 0 : 20}]
    lappend blocks [slowTable [ns_info servers] 0 $limit] [slowTable [ns_info servers] 1 $limit]
    if {$limit > 0} { lappend blocks [links {"All that are kept, a hundred of each" {view requests all 1}}] }
    return $blocks
}

proc nsstats::View-routes {} { return [list [routeTable [ns_info servers]]] }

#
# What answers a request, in a few words.
#
proc nsstats::Handler {server method path} {
    if {[catch { dict get [ns_server -server $server mapped -all [list $method $path]] handler } handler]} { return "" }
    set text [Short [join $handler]]
    return [expr {[string length $text] > 60 ? "[string range $text 0 59]…" : $text}]
}

#
# The frames of a request, SERVER/ID; none when it has ended or does not answer, and
# then the reason in problemVar.
#
proc nsstats::StackRows {asked problemVar} {
    upvar 1 $problemVar problem
    if {![regexp {^(.*)/(cns\d+)$} $asked - server id]} { return {} }
    if {[catch {ns_server -server $server stack $id} frames]} {
        set problem $frames
        return {}
    }
    return [lmap frame $frames {
        lmap key {level type proc file line cmd} {
            set value [expr {[dict exists $frame $key] ? [dict get $frame $key] : ""}]
            expr {$key eq "cmd" ? [Short $value] : $value}
        }
    }]
}

proc nsstats::View-pools {} {
    set rows {}
    set times {}
    set maps {}
    set replies {}
    set failures {}
    forPools {server pool} {
        array set classes {4 0 5 0}
        dict for {status n} [ns_server -server $server -pool $pool statuses] {
            lappend replies [list $server [poolName $pool] [expr {$status == 0 ? "none" : $status}] $n]
            incr classes([string index $status 0]) $n
        }
        set stats [ns_server -server $server -pool $pool stats]
        set threads [ns_server -server $server -pool $pool threads]
        set n [dict get $stats requests]
        set name [poolName $pool]
        set refused [ns_server -server $server -pool $pool refused]
        lappend failures [list $server $name $classes(4) $classes(5) [dict get $stats dropped] [dict get $refused timeout] \
            [dict get $refused unfair] [dict get $refused abandoned]]
        array unset classes
        set row [list $server $name $n [dict get $stats queued] [ns_server -server $server -pool $pool waiting]]
        lappend row [Quotient [expr {[dict get $threads current] - [dict get $threads idle]}] [dict get $threads max]]
        foreach key {min current idle max} { lappend row [dict get $threads $key] }
        foreach key {connthreads spools sent} { lappend row [dict get $stats $key] }
        lappend rows $row
        set row [list $server $name]
        foreach key {accepttime queuetime filtertime runtime tracetime} {
            lappend row [Quotient [dict get $stats $key] $n]
        }
        lappend times $row
        foreach mapping [ns_server -server $server -pool $pool map] {
            lassign $mapping method path filter inherit context
            lappend maps [list $server $name $method $path $filter $inherit $context]
        }
    }
    return [list [table "" {
        Server text Pool text Requests count Queued count Waiting count "Busy of max" use Min count Threads count Idle count
        Max count Started count "To writers" count Sent bytes
    } $rows] [table "Failures and refusals" {
        Server text Pool text 4xx count 5xx trouble "Refused, full" trouble "Timed out" trouble "Too many of one client" count
        Abandoned count
    } $failures] [table "Mean times" {
        Server text Pool text Accept time Queue time Filter time Run time Trace time
    } $times] [table "Replies by status" {
        Server text Pool text Status text Replies count
    } $replies] [table "Request mappings" {
        Server text Pool text Method text Path text Pattern text Inherited text Condition text
    } $maps {} "No mappings; all requests go to the default pool."]]
}

proc nsstats::View-times {} {
    set blocks [list [RangeChoices "" {"" "since the start"}]]
    return [concat $blocks [expr {[Range ""] eq "" ? [TimesSinceStart] : [TimesOfRange]}]]
}

#
# What lies between the first sample of the range and now, in all servers together.
#
proc nsstats::TimesOfRange {} {
    set samples [history [Range ""]]
    set rows {}
    set bars {}
    foreach span {accept queue filter run trace} {
        set before [dict get [lindex $samples 0] counts $span]
        set after [dict get [lindex $samples end] counts $span]
        set n [expr {[lindex $after end] - [lindex $before end]}]
        set row [list $span $n]
        foreach share {0.5 0.9 0.99 0.999} {
            lappend row [expr {$n > 0 ? [percentile [bounds] $before $after $share] : ""}]
        }
        lappend rows $row
        if {$n == 0} continue
        set counts {}
        set last 0
        foreach bound [bounds] m $before k $after {
            incr k -$m
            dict set counts [expr {$bound eq "Inf" ? "longer" : "≤ [Text time $bound]"}] [expr {$k - $last}]
            set last $k
        }
        lappend bars [bars "Requests by $span time" $counts]
    }
    set seconds [expr {[dict get [lindex $samples end] time] - [dict get [lindex $samples 0] time]}]
    return [list [note "The last [Text time $seconds], all servers together."] [table "" {
        Span text Requests count "50 %" time "90 %" time "99 %" time "99.9 %" time
    } $rows] {*}$bars]
}

proc nsstats::TimesSinceStart {} {
    set rows {}
    forPools {server pool} {
        dict for {span values} [ns_server -server $server -pool $pool histogram] {
            lappend rows [list $server [poolName $pool] $span {*}[dict values $values]]
        }
    }
    set blocks [list [table "" {
        Server text Pool text Span text Requests count Mean time "50 %" time "90 %" time "99 %" time
        "99.9 %" time Longest time
    } $rows]]
    set names {"50 %" "90 %" "99 %" "99.9 %" longest}
    foreach server [ns_info servers] {
        lappend blocks [chart "Times by percentile, $server" time [Curves $server] $names $names]
        dict for {span values} [ns_server -server $server buckets] {
            if {[dict get $values count] == 0} continue
            lappend blocks [bars "Requests by $span time, $server" [Distribution $values]]
        }
    }
    return $blocks
}

#
# The percentiles of each span that has happened, in steps as they are usually drawn.
#
proc nsstats::Curves {server} {
    set curves {}
    dict for {span values} [ns_server -server $server histogram] {
        if {$span ni {accept queue filter run} || [dict get $values count] == 0} continue
        lappend curves $span [lmap key {p50 p90 p99 p999 max} { dict get $values $key }]
    }
    return $curves
}

#
# How many durations lie between each bound and the one before.
#
proc nsstats::Distribution {values} {
    set counts {}
    set before 0
    foreach {bound n} [dict get $values buckets] {
        dict set counts "≤ [Text time $bound]" [expr {$n - $before}]
        set before $n
    }
    dict set counts longer [expr {[dict get $values count] - $before}]
    return $counts
}

proc nsstats::View-threads {} {
    set rows {}
    lassign [earlierTasks] then earlier
    set now [expr {[clock milliseconds] / 1000.0}]
    foreach thread [ns_info threads] {
        lassign $thread name parent id flags created proc
        set task [lindex $thread end]
        lassign [cpu $task] state user system
        set share ""
        set lately ""
        if {$user ne "" && $now > $created} {
            set share [expr {($user + $system) / double($now - $created)}]
            if {$then > 0} {
                set before [expr {[dict exists $earlier $task] ? [dict get $earlier $task] : 0}]
                set lately [expr {max(0.0, $user + $system - $before) / ($now - max($then, $created))}]
            }
        }
        set args [Short [join [lrange $thread 6 end-1]]]
        if {$proc eq "p:(nil)"} { set proc "" }
        lappend rows [list [list $name [StackOf $name $args]] $task $state $lately $share $args $user $system $created $proc $parent]
    }
    return [list [table "" {
        Name link "Thread id (TID)" id State text "CPU, last 5 s" percent "CPU since start" percent Argument wide User time
        System time Since clock Procedure text "Started by" line
    } $rows {4 down}] [note "State: R runs or could, S sleeps, D waits for a disk. CPU: percent of one processor; since start: that of the thread."]]
}

#
# The query for the stack of the request that a connection thread runs.
#
proc nsstats::StackOf {name args} {
    if {![regexp {^-conn:(.*?):(.*:)?\d+-?$} $name - server] || ![regexp {^(cns\d+) \S+ running} [lindex $args 0] - id]
        || [ns_conn isconnected] && $id eq "cns[ns_conn id]" && $server eq [ns_conn server]} { return "" }
    return [list view requests stack $server/$id]
}

proc nsstats::View-locks {} {
    set rows {}
    set nTaken 0
    set nBusy 0
    set nFolded 0
    set showsAll [expr {[ns_queryget all] eq "1"}]
    foreach lock [ns_info locks] {
        lassign $lock name owner id taken busy wait longest held
        if {$taken == 0} continue
        incr nTaken $taken
        incr nBusy $busy
        if {$busy == 0 && !$showsAll} { incr nFolded; continue }
        lappend rows [list $name $taken $busy [expr {double($busy) / $taken}] $wait $longest $held]
    }
    set blocks [list \
        [figures [list Locks count [expr {[llength $rows] + $nFolded}] Taken count $nTaken Busy count $nBusy \
            "Share busy" share [Quotient $nBusy $nTaken]]] \
        [table "" {
            Lock text Taken count Busy count Share share "Total wait" time "Longest wait" time Held time
        } $rows {4 down} "No thread has waited for a lock."]]
    if {$nFolded > 0} {
        lappend blocks [links [list "And $nFolded more, never waited for" {view locks all 1}]]
    }
    return $blocks
}

proc nsstats::View-memory {} {
    set sizes [memory]
    lassign [openFiles] nOpen mostOpen
    set items {}
    foreach {label key} {
        Resident VmRSS "Peak resident" VmHWM Virtual VmSize Data VmData Swapped VmSwap Shared RssShmem
    } {
        if {[dict exists $sizes $key]} { lappend items $label bytes [dict get $sizes $key] }
    }
    lappend items "Open files" count $nOpen "Open-file limit" count $mostOpen
    set heap [ns_info allocator]
    lappend items "Given out by [dict get $heap name]" bytes [dict get $heap allocated] \
        "Taken by it" bytes [dict get $heap heap] \
        "Free in it" bytes [expr {max(0, [dict get $heap heap] - [dict get $heap allocated])}] \
        "Memory of logs" bytes [dict get [ns_logsink memory] used]
    dict for {kind spool} [dict filter [ns_info spool] key body reply] {
        lappend items "Spooled [dict get {body bodies reply replies} $kind], on disk" bytes [dict get $spool bytes] \
            "Refused for lack of disk, [dict get {body bodies reply replies} $kind]" count [dict get $spool refused]
    }
    set arrays [lmap name [nsv_names] { list $name [nsv_array size $name] }]
    set pages [lmap {file page} [ns_adp_stats] {
        list $file [dict get $page size] [dict get $page blocks] [dict get $page evals]
    }]
    set blocks [list [figures $items {
        "Bodies refused for lack of disk space" {bad} "Replies refused for lack of disk space" {bad}
    }]]
    if {[mayAct]} { lappend blocks [button {"Release free memory" release}] }
    return [concat $blocks [list \
        [table "Tcl's allocator, all threads" {
            "Block size" count Free bytes Allocated count Freed count "In use" bytes
        } [AllocatorRows] {0 up}] \
        [table "Shared arrays" {Array text Elements count} $arrays {1 down}] \
        [table "Parsed pages" {File text Size bytes Blocks count Runs count} $pages {3 down}]]]
}

proc nsstats::AllocatorRows {} {
    set sums {}
    foreach thread [ns_info pools] {
        foreach row [lrange $thread 1 end] {
            lassign $row size free gets puts
            foreach {key n} [list free $free gets $gets puts $puts] {
                set sum [expr {[dict exists $sums $size $key] ? [dict get $sums $size $key] : 0}]
                dict set sums $size $key [expr {$sum + $n}]
            }
        }
    }
    set rows {}
    dict for {size sum} $sums {
        dict with sum {
            lappend rows [list $size [expr {$size * $free}] $gets $puts [expr {$size * max(0, $gets - $puts)}]]
        }
    }
    return $rows
}

#
# A sentence about each sink that does not write just now, and what to do about it.
#
proc nsstats::SinkTroubles {} {
    set troubles {}
    foreach sink [ns_logsink list] {
        # One that was removed meanwhile is not there.
        if {[catch {ns_logsink stats $sink} stats] || [dict get $stats state] eq "ok"} continue
        set waiting [dict get $stats pending]
        lappend troubles "Log sink $sink: [dict get $stats state] since [Text clock [dict get $stats since]], for [
            Text time [troubleSeconds $stats]]; [Text count $waiting] [expr {$waiting == 1 ? "line waits" : "lines wait"}].[
            Remedy $sink [dict get $stats state]]"
    }
    return $troubles
}

#
# What helps a sink in trouble.
#
proc nsstats::Remedy {sink state} {
    if {[catch {ns_logsink info $sink} info]} { return "" }
    switch -- [dict get $info type] {
        file {
            set check [expr {$state eq "stalled" ? "the disk behind [dict get $info file], or whoever reads it"
                : "space on the disk, and the directory and permissions of [dict get $info file]"}]
        }
        syslog          { set check "the syslog server at [dict get $info address]" }
        stdout - stderr { set check "the program that reads it" }
        default         { set check "that its target ([dict get $info type]) runs and can be reached" }
    }
    set reason [expr {$state eq "stalled" ? "One write has taken more than a second so far" : "The last Error about it gives the reason"}]
    return " $reason; check $check. Waiting lines follow by themselves."
}

proc nsstats::View-logs {} {
    set rows {}
    set settings {}
    foreach sink [ns_logsink list] {
        # One that was removed meanwhile is not there.
        if {[catch {ns_logsink stats $sink} stats] || [catch {ns_logsink info $sink} info]} continue
        set lost {}
        dict for {key value} $stats {
            if {[string match dropped* $key] && $value > 0} { lappend lost "$key $value" }
        }
        set row [list $sink [dict get $stats state] \
            [expr {[dict get $stats state] eq "ok" ? "" : [troubleSeconds $stats]}]]
        foreach key {accepted delivered ignored pending} { lappend row [dict get $stats $key] }
        lappend row [expr {[dict get $stats pending] > 0 ? [dict get $stats oldest] : ""}] \
            [dict get $stats leftover] [dict get $stats behind] [dict get $stats spilled] [dict get $stats spilledbytes]
        set bound [dict get $info maxmemory]
        lappend row [expr {$bound > 0 ? $bound : "logmemory / 2"}] [join $lost {, }]
        foreach key {bytes writes syncs errors wakeups deepest longestwrite} {
            lappend row [dict get $stats $key]
        }
        lappend rows $row
        set row [list $sink]
        foreach key {type streams file address format minseverity ignore overflow buffersize buffertime sync} {
            # A type has only options of its own beside the common ones.
            lappend row [expr {[dict exists $info $key] ? [dict get $info $key] : ""}]
        }
        lappend settings $row
    }
    set severities [lmap {severity n} [ns_logctl stats] {
        list [list $severity [list view messages severity $severity]] $n [expr {[ns_logctl severity $severity] ? "on" : "off"}]
    }]
    set memory [ns_logsink memory]
    return [list \
        [alerts [SinkTroubles]] \
        [figures [list Memory bytes [dict get $memory bytes] "In use" bytes [dict get $memory used] \
            "Peak use" bytes [dict get $memory mostused] Lanes count [dict get $memory lanes]]] \
        [table Sinks {
            Sink text State word "Failing for" time Accepted count Delivered count Ignored count Pending count
            Oldest time "Left over" count Behind bytes "On disk" count "Bytes on disk" bytes Bound bytes Lost text Bytes bytes Writes count Syncs count Errors count Wakeups count
            "Deepest backlog" count "Longest write" time
        } $rows {0 up}] \
        [table "Left by earlier processes" {
            Sink text Type text Records count Process id File text "What to do" text
        } [Leftovers] {} "Nothing: everything that earlier processes logged has been written."] \
        [table Settings {
            Sink text Type text Streams text File text Address text Format text "Min severity" text
            Ignore text Overflow text Buffer bytes "Longest in it" time Sync text
        } $settings {0 up}] \
        [table Severities {Severity link Entries count State text} $severities {1 down}]]
}

#
# What waits for a sink that this process does not have, or cannot be read.
#
proc nsstats::Leftovers {} {
    return [lmap leftover [ns_logsink leftovers] {
        dict with leftover {
            set remedy [expr {[dict exists $leftover problem]
                ? "It cannot be read: [dict get $leftover problem]. nsd ctl log forget $file deletes it."
                : "Make the sink again, and they are written; nsd ctl log forget $sink gives them up."}]
            list $sink $type $records $pid $file $remedy
        }
    }]
}

proc nsstats::View-caches {} {
    set rows {}
    foreach server [ns_info servers] {
        foreach cache [ns_cache_names -server $server] {
            set stats [ns_cache_stats -server $server -- $cache]
            set row [list $cache $server]
            foreach key {entries size maxsize hits missed} { lappend row [dict get $stats $key] }
            set asked [expr {[dict get $stats hits] + [dict get $stats missed]}]
            lappend row [Quotient [dict get $stats hits] $asked]
            foreach key {expired pruned flushed saved} { lappend row [dict get $stats $key] }
            lappend rows [lappend row [expr {[dict get $stats pruned] > 0 ? "prunes" : ""}]]
        }
    }
    return [list [table "" {
        Cache text Server text Entries count Size bytes "Max size" bytes Hits count Misses count "Hit rate" share
        Expired count Pruned count Flushed count Saved time Remark word
    } $rows {3 down}] [note "A cache that prunes drops entries that are still valid, for lack of space: its maximum size is too small for its use."]]
}

proc nsstats::View-drivers {} {
    set drivers [lmap driver [ns_driver info] {
        set row {}
        foreach key {module server location address port sendwait recvwait libraryversion} { lappend row [dict get $driver $key] }
        set row
    }]
    set threads [lmap stats [ns_driver stats] {
        dict with stats {
            list $thread $module $connections $maxconnections [Quotient $connections $maxconnections] \
                $reading $waiting $closing $received $spooled $partial $errors
        }
    }]
    set now [expr {[clock milliseconds] / 1000.0}]
    set writers [lmap job [ns_writer list -long] {
        set rest [lassign $job start thread driver pool peer fd remaining sent rate limit]
        list $thread $driver [poolName $pool] [expr {$now - $start}] $peer $fd $remaining $sent \
            [expr {$rate * 1024}] [expr {$limit > 0 ? $limit * 1024 : ""}] [lindex $rest 0]
    }]
    return [list \
        [alerts [CertificateTroubles]] \
        [table "" {
            Module text Server text Location text Address text Port text "Send wait" time "Receive wait" time TLS text
        } $drivers {0 up}] \
        [table Threads {
            Thread line Module text Connections count Limit count "Of limit" use Reading count "Waiting for a pool" count
            Closing count Received count Spooled count Partial count Errors count
        } $threads {0 up}] \
        [table Certificates {
            File text Names text Issuer text Expires text "Days left" number State word
        } [Certificates] {4 up} "No certificate is in use."] \
        [table "Refusals by status" {Server text Pool text Status id Because text Replies count} [Refusals] {4 down} \
            "No request was refused."] \
        [table "Writer queue" {
            Thread line Driver text Pool text Since time Peer text Descriptor id Remaining bytes Sent bytes
            "Per second" bytes Limit bytes Note text
        } $writers {3 down}]]
}

#
# The certificates that nsssl uses.  A file may be out of reach for the server's user.
#
proc nsstats::Certificates {} {
    if {[info commands ::ns_certctl] eq ""} { return {} }
    return [lmap certificate [ns_certctl list] {
        set file [lindex $certificate 0]
        set days [lindex $certificate 2]
        set names ""
        set issuer ""
        set until ""
        if {![catch { ns_certctl info $file } info]} {
            catch { set names [join [dict get $info san dns] ", "] }
            catch { set issuer [dict get $info issuer] }
            catch { set until [dict get $info notafter] }
        }
        list $file $names $issuer $until $days [expr {$days <= 0 ? "expired" : $days < 14 ? "soon" : "ok"}]
    }]
}

proc nsstats::CertificateTroubles {} {
    set troubles {}
    foreach row [Certificates] {
        lassign $row file - - - days state
        if {$state eq "ok"} continue
        lappend troubles [string cat "Certificate $file " \
            [expr {$state eq "expired" ? "has expired" : "expires in [format %.1f $days] days"}] \
            ". Renew it; the server loads the new file by itself."]
    }
    return $troubles
}

#
# Replies with a status that the server itself gives to what it does not take.
#
proc nsstats::Refusals {} {
    set reasons {
        400 "not valid HTTP" 403 "not allowed" 405 "method not known here" 408 "too slow to arrive" 411 "no length" 413 "body too large"
        414 "URL too long" 417 "expectation not met" 421 "not a host of this server" 429 "too many at a time from one client"
        431 "header too large" 499 "the client had left" 501 "not implemented" 503 "busy, or stopping" 505 "version of HTTP"
    }
    set rows {}
    forPools {server pool} {
        dict for {status n} [ns_server -server $server -pool $pool statuses] {
            if {![dict exists $reasons $status]} continue
            lappend rows [list $server [poolName $pool] $status [dict get $reasons $status] $n]
        }
    }
    return $rows
}

proc nsstats::View-schedule {} {
    set rows {}
    set history [ns_info schedulehistory]
    foreach event [ns_info scheduled] {
        set args [lassign $event id flags interval next queued started ended proc]
        set kinds {}
        foreach {bit word} {4 daily 8 weekly 2 once 1 thread 16 paused 32 running} {
            if {$flags & $bit} { lappend kinds $word }
        }
        set every [expr {$flags & 12 ? "at [ClockTime $flags $interval]" : "every [Text time $interval]"}]
        set state ok
        set runs [expr {[dict exists $history $id] ? [dict get $history $id] : {runs 0 errors 0 lasterror "" errortime 0 history {}}}]
        if {[lindex [dict get $runs history] 0 2] eq "1"} { set state failed }
        if {$next > 0 && $next < [clock seconds] - 1 && !($flags & 48)} { set state late }
        lappend rows [list $id [join $kinds] $every $state $next $started [dict get $runs runs] [dict get $runs errors] \
            [LastError $runs] [join [lmap run [dict get $runs history] { string cat [Text time [lindex $run 1]] [expr {[lindex $run 2] ? " ⚠" : ""}] }] ", "] \
            $proc [Short [join $args]]]
    }
    return [list [table "" {
        Id id Kind text Runs line State word Next clock "Last start" clock Done count Failed trouble
        "Last error" wide "Last runs" line Procedure text Arguments text
    } $rows {4 up}] [note "Late: it should have begun, and waits for a thread. Failed: its last run ended with an error. Last runs: how long they took, newest first."]]
}

proc nsstats::LastError {runs} {
    if {[dict get $runs errors] == 0} { return "" }
    return "[Text clock [dict get $runs errortime]]: [Short [dict get $runs lasterror]]"
}

#
# Daily, seconds count from midnight; weekly, from that of Sunday.
#
proc nsstats::ClockTime {flags seconds} {
    set days {Sunday Monday Tuesday Wednesday Thursday Friday Saturday}
    set day [expr {$flags & 8 ? "[lindex $days [expr {$seconds / 86400 % 7}]] " : ""}]
    return $day[format %02d:%02d [expr {$seconds / 3600 % 24}] [expr {$seconds / 60 % 60}]]
}

proc nsstats::View-jobs {} {
    set queues {}
    set jobs {}
    foreach queue [ns_job queuelist] {
        set name [dict get $queue name]
        lappend queues [list $name [dict get $queue desc] [dict get $queue numrunning] [dict get $queue maxthreads] \
            [Quotient [dict get $queue numrunning] [dict get $queue maxthreads]]]
        # A queue may be deleted meanwhile.
        if {[catch {ns_job joblist $name} list]} continue
        foreach job $list {
            set seconds [expr {[dict get $job time] / 1000.0}]
            set remark [expr {[dict get $job state] eq "scheduled" && $seconds > 1 ? "late"
                : [dict get $job state] eq "done" && [dict get $job code] ni {"" TCL_OK 0} ? "failed" : ""}]
            lappend jobs [list $name [dict get $job id] [dict get $job state] $remark [dict get $job type] \
                $seconds [Short [dict get $job script]] [expr {$remark eq "failed" ? [Short [dict get $job results]] : ""}]]
        }
    }
    set threads [ns_job threadlist]
    return [list \
        [figures [list Threads count [dict get $threads numthreads] Idle count [dict get $threads numidle]]] \
        [table Queues {Queue text Description text Running count Max count "Of max" use} $queues {0 up}] \
        [table Jobs {Queue text Job text State text Remark word Type text Time time Script text Error text} $jobs {5 down}]]
}

proc nsstats::View-handlers {} {
    set blocks [Answerer]
    foreach server [ns_info servers] {
        set rows {}
        foreach row [ns_server -server $server requestprocs] {
            set args [lassign $row method url filter inherit proc]
            lappend rows [list $method $url $filter $inherit $proc [Short [join $args]]]
        }
        lappend blocks [table "Handlers (server \"$server\")" {
            Method text URL text Pattern text Inherited text Procedure text Arguments text
        } $rows {1 up}]
        set rows {}
        foreach row [ns_server -server $server filters] {
            set args [lassign $row method url when proc]
            lappend rows [list $when $method $url $proc [Short [join $args]]]
        }
        lappend blocks [table "Filters (server \"$server\"), in order" {
            When text Method text URL text Procedure text Arguments text
        } $rows]
    }
    set rows {}
    foreach row [ns_info callbacks] {
        set args [lassign $row when proc]
        lappend rows [list $when $proc [Short [join $args]]]
    }
    lappend blocks [table "Callbacks, in order" {When text Procedure text Arguments text} $rows]
    set rows {}
    foreach row [ns_info sockcallbacks] {
        set args [lassign $row fd events proc]
        lappend rows [list $fd $events $proc [Short [join $args]]]
    }
    lappend blocks [table "Socket callbacks" {
        Descriptor id Events text Procedure text Arguments text
    } $rows {0 up}]
    return $blocks
}

#
# Who answers a request: the field that asks, and the way of the one that was asked for,
# in the order in which it is walked.
#
proc nsstats::Answerer {} {
    set servers [ns_info servers]
    set server [ns_queryget server [lindex $servers 0]]
    if {$server ni $servers} { set server [lindex $servers 0] }
    set method [ns_queryget method GET]
    set methods {GET HEAD POST PUT PATCH DELETE OPTIONS}
    if {$method ni $methods} { set method GET }
    set url [ns_queryget url]
    set fields [list method "Who answers" $method [concat {*}[lmap name $methods { list $name $name }]] url URL $url {}]
    if {[llength $servers] > 1} {
        lappend fields server "of server" $server [concat {*}[lmap name $servers { list $name $name }]]
    }
    set rows {}
    set none "Give a path, such as /index.html."
    if {$url ne ""} {
        set path [lindex [split $url ?] 0]
        if {[string index $path 0] ne "/"} { set path /$path }
        if {[catch { ns_server -server $server mapped -all [list $method $path] } mapped]} {
            set none "[string totitle $mapped 0 0]."
        } else {
            set filters [ns_server -server $server filters]
            lappend rows [list Pool [poolName [dict get $mapped pool]] ""]
            foreach when {preauth postauth} {
                lappend rows {*}[MatchingFilters $filters $when $method $path]
            }
            set args [lassign [dict get $mapped handler] proc]
            lappend rows [list Handler $proc [Short [join $args]]]
            lappend rows {*}[MatchingFilters $filters trace $method $path]
        }
    }
    return [list [form handlers $fields] [table "" {Step text Procedure text Arguments text} $rows {} $none]]
}

proc nsstats::MatchingFilters {filters wanted method path} {
    set rows {}
    foreach row $filters {
        set args [lassign $row its url when proc]
        if {$wanted in $when && [string match $its $method] && [string match $url $path]} {
            lappend rows [list "Filter, $wanted" $proc [Short [join $args]]]
        }
    }
    return $rows
}

proc nsstats::View-config {} {
    set find [ns_queryget find]
    set showsAll [expr {[ns_queryget show] eq "all"}]
    set rows [lmap row [ConfigRows] {
        if {!$showsAll && [lindex $row 3] eq "default"} continue
        if {$find ne "" && [string first [string tolower $find] [string tolower "[lindex $row 0]/[lindex $row 1] [lindex $row 2]"]] < 0} continue
        set row
    }]
    return [list \
        [note "Configuration file: [ns_info config]. [expr {$showsAll ? "Includes the defaults of parameters that have been read."
            : "Values that would be the same without the file are left out."}]"] \
        [form config [list find Containing $find {} show Show [expr {$showsAll ? "all" : ""}] {"" "what differs" all all}]] \
        [table "" {Section text Parameter text Value text State word "Set in" text} $rows] \
        [note "State: changed, it differs from the default; own, the server has no such parameter, and a module or the application\
            has read it; unknown, nobody has; default, it is what it would be anyway."]]
}

#
# Section, name, value, state and place of each parameter: first those of the file, in its
# order, then the ones that a script or nsd ctl set, then defaults.
#
proc nsstats::ConfigRows {} {
    set byHand {}
    foreach setting [ns_setting list] {
        if {![dict get $setting byhand]} continue
        dict set byHand [string tolower [dict get $setting section]/[dict get $setting name]] \
            [list [dict get $setting value] [dict get $setting origin]]
    }
    set rows {}
    set seen {}
    foreach item [ns_setting configured] {
        dict with item {
            set value [Short [Public $name $value]]
            set state [expr {$default ? "default" : $known ? "changed" : $read ? "own" : "unknown"}]
            set place "[file tail $file]:$line"
            set full [string tolower $section/$name]
            dict set seen $full {}
            if {[dict exists $byHand $full]} {
                lassign [dict get $byHand $full] now origin
                append value "; now [Short [Public $name $now]] (set by $origin)"
                set state changed
                append place ", $origin"
                dict unset byHand $full
            }
            lappend rows [list $section $name $value $state $place]
        }
    }
    dict for {full pair} $byHand {
        dict set seen $full {}
        lassign $pair value origin
        lappend rows [list [file dirname $full] [file tail $full] "default; now [Public [file tail $full] $value] (set by $origin)" changed $origin]
    }
    foreach section [ns_configsections] {
        set name [ns_set name $section]
        for {set i 0} {$i < [ns_set size $section]} {incr i} {
            set key [ns_set key $section $i]
            if {[dict exists $seen [string tolower $name/$key]]} continue
            lappend rows [list $name $key [Short [Public $key [ns_set value $section $i]]] default ""]
        }
    }
    return $rows
}

#
# A value as everybody may see it: not when the name says that it is secret, nor when
# it looks like a URL or a connection string with a password.
#
proc nsstats::Public {key value} {
    if {$value ne ""
        && ([regexp -nocase {passw|passphrase|^pass$|secret|token|credential|api_?key|private|^connection$|conninfo|connect_?string|^datasource$|^dsn$} $key]
            || [regexp -nocase {(passw(or)?d|pwd)\s*=|://[^/@\s]*:[^/@\s]*@} $value])} {
        return "(not shown)"
    }
    return $value
}
