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

proc nsstats::View-overview {} {
    set samples [history]
    set changes [changes $samples]
    set now [lindex $samples end]
    set last [expr {$changes eq "" ? [dict create requests 0.0 cpu 0.0] : [lindex $changes end]}]
    set since [expr {[dict get $now time] - [dict get [lindex $samples 0] time]}]
    set axis [list "[Text time $since] ago" now]
    set severities [ns_logctl stats]
    return [list \
        [alerts [SinkTroubles]] \
        [figures [list \
            "Requests/s" number [dict get $last requests] \
            "Requests" count [dict get $now requests] \
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
            "Errors" count [dict get $severities Error]]] \
        [chart "Requests per second" number [Series $changes requests requests] $axis] \
        [chart "Mean times of a request" time \
            [Series $changes run runtime filter filtertime queue queuetime accept accepttime] $axis] \
        [chart "Percentiles of a request" time \
            [Series $changes "run 99 %" runp99 "run 50 %" runp50 "queue 99 %" queuep99 "queue 50 %" queuep50] $axis] \
        [chart "Connection threads and queue" count \
            [Series $changes threads current busy busy waiting waiting] $axis] \
        [chart "CPU" share [Series $changes "of one processor" cpu] $axis] \
        [chart "Memory" bytes [Series $changes resident memory] $axis] \
        [chart "Log lines per second" number [Series $changes delivered lines] $axis]]
}

proc nsstats::View-requests {} {
    set rows {}
    set choices [list "" none]
    forPools {server pool} {
        foreach request [ns_server -server $server -pool $pool all] {
            lassign $request id peer state method url elapsed sent
            lappend rows [list $elapsed $state $method $url $peer $server [poolName $pool] $id $sent]
            # The request that asks could not answer itself.
            if {$state eq "running" && ($id ne "cns[ns_conn id]" || $server ne [ns_conn server])} {
                lappend choices "$server/$id" "$id $method $url"
            }
        }
    }
    set asked [ns_queryget stack]
    if {$asked ni $choices} { lappend choices $asked "$asked (gone)" }
    set blocks [list \
        [form requests [list stack "Tcl stack of" $asked $choices]] \
        [table "" {
            Elapsed time State text Method text URL text Peer text Server text Pool text Id text Sent bytes
        } $rows {0 down}]]
    if {$asked ne ""} {
        set problem ""
        lappend blocks [table "Tcl stack, innermost first" {
            Level id Kind text Procedure text Line id Command text
        } [StackRows $asked problem]]
        lappend blocks [note [expr {$problem eq "" ? "" : "[string totitle $problem 0 0]."}]]
    }
    return $blocks
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
        lmap key {level type proc line cmd} {
            set value [expr {[dict exists $frame $key] ? [dict get $frame $key] : ""}]
            expr {$key eq "cmd" ? [Short $value] : $value}
        }
    }]
}

proc nsstats::View-pools {} {
    set rows {}
    set times {}
    set maps {}
    forPools {server pool} {
        set stats [ns_server -server $server -pool $pool stats]
        set threads [ns_server -server $server -pool $pool threads]
        set n [dict get $stats requests]
        set name [poolName $pool]
        set row [list $server $name $n]
        foreach key {queued spools dropped sent} { lappend row [dict get $stats $key] }
        lappend row [ns_server -server $server -pool $pool waiting]
        foreach key {min current idle max} { lappend row [dict get $threads $key] }
        lappend row [dict get $stats connthreads]
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
        Server text Pool text Requests count Queued count "To writers" count Refused count Sent bytes
        Waiting count Min count Threads count Idle count Max count Started count
    } $rows] [table "Mean times" {
        Server text Pool text Accept time Queue time Filter time Run time Trace time
    } $times] [table "Request mappings" {
        Server text Pool text Method text Path text Pattern text Inherited text Context text
    } $maps]]
}

proc nsstats::View-times {} {
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
    foreach server [ns_info servers] {
        lappend blocks [chart "Times by percentile, $server" time [Curves $server] {"50 %" "90 %" "99 %" "99.9 %" longest}]
        dict for {span values} [ns_server -server $server buckets] {
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
    set now [clock seconds]
    foreach thread [ns_info threads] {
        lassign $thread name parent id flags created proc
        set task [lindex $thread end]
        lassign [cpu $task] state user system
        set share ""
        if {$user ne "" && $now > $created} {
            set share [expr {($user + $system) / double($now - $created)}]
        }
        set args [Short [join [lrange $thread 6 end-1]]]
        if {$proc eq "p:(nil)"} { set proc "" }
        lappend rows [list $name $task $state $user $system $share $created $proc $args $parent]
    }
    return [list [table "" {
        Name text TID id State text User time System time Share share Since clock
        Procedure text Argument line "Started by" line
    } $rows {5 down}]]
}

proc nsstats::View-locks {} {
    set rows {}
    set nTaken 0
    set nBusy 0
    foreach lock [ns_info locks] {
        lassign $lock name owner id taken busy wait longest held
        if {$taken == 0} continue
        lappend rows [list $name $taken $busy [expr {double($busy) / $taken}] $wait $longest $held]
        incr nTaken $taken
        incr nBusy $busy
    }
    return [list \
        [figures [list Locks count [llength $rows] Taken count $nTaken Busy count $nBusy \
            "Share busy" share [Quotient $nBusy $nTaken]]] \
        [table "" {
            Lock text Taken count Busy count Share share "Total wait" time "Longest wait" time Held time
        } $rows {4 down}]]
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
    lappend items "Open files" count $nOpen "Open files limit" count $mostOpen
    set arrays [lmap name [nsv_names] { list $name [nsv_array size $name] }]
    set pages [lmap {file page} [ns_adp_stats] {
        list $file [dict get $page size] [dict get $page blocks] [dict get $page evals]
    }]
    return [list [figures $items] \
        [table "Tcl's allocator, all threads" {
            "Block size" count Free bytes Allocated count Freed count "In use" bytes
        } [AllocatorRows] {0 up}] \
        [table "Shared arrays" {Array text Elements count} $arrays {1 down}] \
        [table "Parsed pages" {File text Size bytes Blocks count Runs count} $pages {3 down}]]
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
# A sentence about each sink that does not write just now.
#
proc nsstats::SinkTroubles {} {
    set troubles {}
    foreach sink [ns_logsink list] {
        # One that was removed meanwhile is not there.
        if {[catch {ns_logsink stats $sink} stats] || [dict get $stats state] eq "ok"} continue
        set waiting [dict get $stats pending]
        lappend troubles "Log sink $sink: [dict get $stats state] since [Text clock [dict get $stats since]], for [
            Text time [troubleSeconds $stats]]; [Text count $waiting] [expr {$waiting == 1 ? "line waits" : "lines wait"}]."
    }
    return $troubles
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
        foreach key {accepted delivered ignored pending behind} { lappend row [dict get $stats $key] }
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
        list $severity $n [expr {[ns_logctl severity $severity] ? "on" : "off"}]
    }]
    set memory [ns_logsink memory]
    return [list \
        [alerts [SinkTroubles]] \
        [figures [list Memory bytes [dict get $memory bytes] "In use" bytes [dict get $memory used] \
            "Peak use" bytes [dict get $memory mostused] Lanes count [dict get $memory lanes]]] \
        [table Sinks {
            Sink text State text "Failing for" time Accepted count Delivered count Ignored count Pending count
            Behind bytes Bound bytes Lost text Bytes bytes Writes count Syncs count Errors count Wakeups count
            "Deepest backlog" count "Longest write" time
        } $rows {0 up}] \
        [table Settings {
            Sink text Type text Streams text File text Address text Format text "Min severity" text
            Ignore text Overflow text Buffer bytes "Longest in it" time Sync text
        } $settings {0 up}] \
        [table Severities {Severity text Entries count State text} $severities {1 down}]]
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
            lappend rows $row
        }
    }
    return [list [table "" {
        Cache text Server text Entries count Size bytes "Max size" bytes Hits count Misses count "Hit rate" share
        Expired count Pruned count Flushed count Saved time
    } $rows {3 down}]]
}

proc nsstats::View-drivers {} {
    set drivers [lmap driver [ns_driver info] {
        set row {}
        foreach key {module server location address port sendwait recvwait} { lappend row [dict get $driver $key] }
        set row
    }]
    set threads [lmap stats [ns_driver stats] {
        set row {}
        foreach key {thread module received spooled partial errors} { lappend row [dict get $stats $key] }
        set row
    }]
    set now [expr {[clock milliseconds] / 1000.0}]
    set writers [lmap job [ns_writer list -long] {
        set rest [lassign $job start thread driver pool peer fd remaining sent rate limit]
        list $thread $driver [poolName $pool] [expr {$now - $start}] $peer $fd $remaining $sent \
            [expr {$rate * 1024}] [expr {$limit > 0 ? $limit * 1024 : ""}] [lindex $rest 0]
    }]
    return [list \
        [table Drivers {
            Module text Server text Location text Address text Port text "Send wait" time "Receive wait" time
        } $drivers {0 up}] \
        [table Threads {
            Thread text Module text Received count Spooled count Partial count Errors count
        } $threads {0 up}] \
        [table "Writer queue" {
            Thread text Driver text Pool text Since time Peer text Descriptor id Remaining bytes Sent bytes
            "Per second" bytes Limit bytes Note text
        } $writers {3 down}]]
}

proc nsstats::View-schedule {} {
    set rows {}
    foreach event [ns_info scheduled] {
        set args [lassign $event id flags interval next queued started ended proc]
        set kinds {}
        foreach {bit word} {4 daily 8 weekly 2 once 1 thread 16 paused 32 running} {
            if {$flags & $bit} { lappend kinds $word }
        }
        set every [expr {$flags & 12 ? "at [ClockTime $flags $interval]" : "every [Text time $interval]"}]
        set took ""
        if {$ended > 0 && $ended >= $started} { set took [expr {$ended - $started}] }
        lappend rows [list $id [join $kinds] $every $next $started $took $proc [Short [join $args]]]
    }
    return [list [table "" {
        Id id Kind line Runs line Next clock "Last start" clock Took time Procedure text Arguments text
    } $rows {3 up}]]
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
        lappend queues [list $name [dict get $queue desc] [dict get $queue numrunning] \
            [dict get $queue maxthreads]]
        # A queue may be deleted meanwhile.
        if {[catch {ns_job joblist $name} list]} continue
        foreach job $list {
            lappend jobs [list $name [dict get $job id] [dict get $job state] [dict get $job type] \
                [expr {[dict get $job time] / 1000.0}] [Short [dict get $job script]]]
        }
    }
    set threads [ns_job threadlist]
    return [list \
        [figures [list Threads count [dict get $threads numthreads] Idle count [dict get $threads numidle]]] \
        [table Queues {Queue text Description text Running count Max count} $queues {0 up}] \
        [table Jobs {Queue text Job text State text Type text Time time Script text} $jobs {4 down}]]
}

proc nsstats::View-handlers {} {
    set blocks {}
    foreach server [ns_info servers] {
        set rows {}
        foreach row [ns_server -server $server requestprocs] {
            set args [lassign $row method url filter inherit proc]
            lappend rows [list $method $url $filter $inherit $proc [Short [join $args]]]
        }
        lappend blocks [table "Handlers of $server" {
            Method text URL text Pattern text Inherited text Procedure text Arguments text
        } $rows {1 up}]
        set rows {}
        foreach row [ns_server -server $server filters] {
            set args [lassign $row method url when proc]
            lappend rows [list $when $method $url $proc [Short [join $args]]]
        }
        lappend blocks [table "Filters of $server, in their order" {
            When text Method text URL text Procedure text Arguments text
        } $rows]
    }
    set rows {}
    foreach row [ns_info callbacks] {
        set args [lassign $row when proc]
        lappend rows [list $when $proc [Short [join $args]]]
    }
    lappend blocks [table "Callbacks, in their order" {When text Procedure text Arguments text} $rows]
    set rows {}
    foreach row [ns_info sockcallbacks] {
        set args [lassign $row fd events proc]
        lappend rows [list $fd $events $proc [Short [join $args]]]
    }
    lappend blocks [table "Callbacks of sockets" {
        Descriptor id Events text Procedure text Arguments text
    } $rows {0 up}]
    return $blocks
}

proc nsstats::View-config {} {
    set find [ns_queryget find]
    set rows {}
    foreach section [ns_configsections] {
        set name [ns_set name $section]
        for {set i 0} {$i < [ns_set size $section]} {incr i} {
            set key [ns_set key $section $i]
            set value [Public $key [ns_set value $section $i]]
            if {$find eq "" || [string first [string tolower $find] [string tolower "$name/$key $value"]] >= 0} {
                lappend rows [list $name $key [Short $value]]
            }
        }
    }
    return [list \
        [note "Configuration file: [ns_info config]. Values include the defaults of parameters that were asked for."] \
        [form config [list find Containing $find {}]] \
        [table "" {Section text Parameter text Value text} $rows]]
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
