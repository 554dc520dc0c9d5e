# SPDX-License-Identifier: MPL-2.0
# metrics.tcl --
#
#       The figures for a monitoring system: OpenMetrics where the client accepts it,
#       else the older text format.  The two differ in the names by which counters
#       are introduced, and in their end.
#
#       A family is a dict: name, type, help and samples; the samples are a flat list
#       of suffix, labels (a dict) and value.

#
# Answer GET /metrics.
#
proc nsstats::answerMetrics {} {
    nsv_incr nsstats metricsRequests
    if {![admit]} return
    set accepted [ns_set iget [ns_conn headers] Accept]
    set isOpen [expr {[string first application/openmetrics-text $accepted] >= 0}]
    set type [expr {$isOpen ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                            : "text/plain; version=0.0.4; charset=utf-8"}]
    ns_set update [ns_conn outputheaders] Cache-Control no-store
    ns_return 200 $type [metrics $isOpen]
}

proc nsstats::metrics {isOpen} {
    set families [concat [ProcessMetrics] [PoolMetrics] [LogMetrics] [DriverMetrics] [TlsMetrics] \
                      [WriterMetrics] [CacheMetrics] [LockMetrics] [JobMetrics] [ScheduleMetrics] [RouteMetrics]]
    set text ""
    foreach family $families {
        # A family without samples says nothing.
        if {[llength [dict get $family samples]] > 0} { append text [Exposed $family $isOpen] }
    }
    if {$isOpen} { append text "# EOF\n" }
    return $text
}

proc nsstats::Exposed {family isOpen} {
    dict with family {}
    set isCounter [expr {$type eq "counter"}]
    set head [expr {$isCounter && !$isOpen ? "${name}_total" : $name}]
    set text "# HELP $head $help\n# TYPE $head $type\n"
    if {$isOpen && [regexp {_(seconds|bytes)$} $name - unit]} { append text "# UNIT $name $unit\n" }
    foreach {suffix labels value} $samples {
        if {$isCounter} { set suffix _total }
        set pairs {}
        dict for {label content} $labels {
            lappend pairs "$label=\"[string map {\\ \\\\ \" \\\" \n \\n} $content]\""
        }
        append text $name $suffix [expr {$pairs eq "" ? "" : "{[join $pairs ,]}"}] " $value\n"
    }
    return $text
}

proc nsstats::Family {type name help {samples {}}} {
    return [dict create name $name type $type help $help samples $samples]
}

#
# The families of kinds, a flat list of key, type, name and help, that have samples.
#
proc nsstats::Families {kinds samples} {
    set families {}
    foreach {key type name help} $kinds {
        if {[dict exists $samples $key]} { lappend families [Family $type $name $help [dict get $samples $key]] }
    }
    return $families
}

#
# One value without labels.
#
proc nsstats::Single {type name help value} {
    return [Family $type $name $help [list "" {} $value]]
}

proc nsstats::ProcessMetrics {} {
    set sizes [memory]
    set heap [ns_info allocator]
    set allocator [dict create allocator [dict get $heap name]]
    lassign [openFiles] nOpen mostOpen
    set families [list \
        [Family gauge nsd_build_info "Release and commit of the running server." \
            [list "" [dict create version [ns_info release] \
                revision [ns_info revision] compatible [ns_info patchlevel] tcl [info patchlevel]] 1]] \
        [Single gauge process_start_time_seconds "When the process started, in seconds since 1970." [ns_info boottime]] \
        [Single counter process_cpu_seconds "Processor time that the process has used." \
            [format %.2f [cpuSeconds]]] \
        [Single gauge process_resident_memory_bytes "Resident memory of the process." [dict get $sizes VmRSS]] \
        [Single gauge process_virtual_memory_bytes "Address space in use." [dict get $sizes VmSize]] \
        [Family gauge nsd_allocated_bytes "Memory that the allocator has handed out." \
            [list "" $allocator [dict get $heap allocated]]] \
        [Family gauge nsd_heap_bytes "Memory that the allocator has taken from the system." \
            [list "" $allocator [dict get $heap heap]]] \
        [Family gauge nsd_spool_bytes "Disk space used by waiting bodies and replies." [SpoolSamples bytes]] \
        [Family gauge nsd_spool_limit_bytes "Limit for this disk space; 0: none." [SpoolSamples max]] \
        [Family counter nsd_spool_refusals "Writes of bodies and replies that were refused or failed." \
            [SpoolSamples refused]] \
        [Single gauge process_open_fds "Open files and sockets." $nOpen] \
        [Single gauge process_threads "Threads of the process." [llength [ns_info threads]]]]
    set starts [ns_info starts]
    lappend families \
        [Single counter nsd_restarts "Restarts of this server, by itself or by its watchdog." [dict get $starts restarts]] \
        [Single counter nsd_crashes "Crashes whose reports were found in the log directory." [dict get $starts crashes]]
    dict for {kind value} [groupMemory] {
        lappend families [Single gauge nsd_cgroup_memory_${kind}bytes [dict get {
            ""       "Memory in use by the control group."
            "limit_" "Memory that the control group may use."
        } $kind] $value]
    }
    if {[string is integer -strict $mostOpen]} {
        lappend families [Single gauge process_max_fds "Limit for open files and sockets." $mostOpen]
    }
    return $families
}

proc nsstats::PoolMetrics {} {
    set counters {
        requests    nsd_requests                    "Requests that a pool accepted."
        queued      nsd_queued_requests             "Requests that had to wait for a thread."
        dropped     nsd_refused_requests            "Requests refused because the pool was full."
        spools      nsd_spooled_replies             "Replies handed to writer threads."
        sent        nsd_sent_bytes                  "Bytes of replies that were sent."
        connthreads nsd_connection_threads_started  "Connection threads that were started."
    }
    set samples {responses {}}
    set spans {}
    set sizes {}
    forPools {server pool} {
        set labels [dict create server $server pool [poolName $pool]]
        set stats [ns_server -server $server -pool $pool stats]
        foreach {key - -} $counters { dict lappend samples $key "" $labels [dict get $stats $key] }
        dict for {status n} [ns_server -server $server -pool $pool statuses] {
            dict lappend samples responses "" [dict replace $labels code [expr {$status == 0 ? "none" : $status}]] $n
        }
        set refused [ns_server -server $server -pool $pool refused]
        foreach key {timeout abandoned unfair} { dict lappend samples $key "" $labels [dict get $refused $key] }
        dict for {cause n} [ns_server -server $server -pool $pool cancelled] {
            dict lappend samples cancelled "" [dict replace $labels reason $cause] $n
        }
        dict for {reason n} [ns_server -server $server -pool $pool aborted] {
            dict lappend samples aborted "" [dict replace $labels reason $reason] $n
        }
        dict for {kind values} [ns_server -server $server -pool $pool sizes] {
            dict lappend sizes $kind {*}[BucketSamples $labels $values]
        }
        dict lappend samples waiting "" $labels [ns_server -server $server -pool $pool waiting]
        set threads [ns_server -server $server -pool $pool threads]
        dict lappend samples max "" $labels [dict get $threads max]
        set idle [dict get $threads idle]
        foreach {state n} [list idle $idle busy [expr {[dict get $threads current] - $idle}]] {
            dict lappend samples threads "" [dict replace $labels state $state] $n
        }
        dict for {span values} [ns_server -server $server -pool $pool buckets] {
            dict lappend spans $span {*}[BucketSamples $labels $values]
        }
    }
    set families [lmap {key name help} $counters {
        Family counter $name $help [dict get $samples $key]
    }]
    set nOwn [expr {[nsv_exists nsstats metricsRequests] ? [nsv_get nsstats metricsRequests] : 0}]
    lappend families \
        [Single counter nsd_metrics_requests "Requests for /metrics, which are among nsd_requests." $nOwn] \
        [Family counter nsd_responses "Replies by status; none: the connection was closed without a reply." \
            [dict get $samples responses]] \
        [Family counter nsd_queue_timeouts "Requests that waited too long for a thread (queuetimeout)." \
            [dict get $samples timeout]] \
        [Family counter nsd_abandoned_requests "Requests that were not run because their clients had left." \
            [dict get $samples abandoned]] \
        [Family counter nsd_cancelled_requests "Requests that were cancelled while they ran." \
            [dict get $samples cancelled]] \
        [Family counter nsd_aborted_replies "Replies that broke off before their clients had all of them." \
            [dict get $samples aborted]] \
        [Family histogram nsd_request_body_bytes "Sizes of the bodies of requests that have one." [dict get $sizes body]] \
        [Family histogram nsd_response_bytes "Sizes of replies, with their heads." [dict get $sizes reply]] \
        [Family counter nsd_unfair_requests "Requests refused because their clients had too many (maxwaitperpeer)." \
            [dict get $samples unfair]] \
        [Family gauge nsd_waiting_requests "Requests that are waiting for a thread." [dict get $samples waiting]] \
        [Family gauge nsd_connection_threads "Connection threads that are idle or busy." [dict get $samples threads]] \
        [Family gauge nsd_connection_threads_limit "Limit for connection threads." [dict get $samples max]]
    foreach {span help} {
        accept "Time from the first byte of a request until it was complete."
        queue  "Time from the end of a request until a thread took it."
        filter "Time from when a thread took a request until filters and authorization were done."
        run    "Time from the end of filters and authorization until the reply was finished."
        trace  "Time from the end of a reply until the traces were done."
    } {
        lappend families [Family histogram nsd_${span}_seconds $help [dict get $spans $span]]
    }
    return $families
}

proc nsstats::BucketSamples {labels values} {
    set samples {}
    foreach {bound n} [dict get $values buckets] {
        # OpenMetrics wants bounds to be floating-point numbers.
        lappend samples _bucket [dict replace $labels le [expr {double($bound)}]] $n
    }
    lappend samples _bucket [dict replace $labels le +Inf] [dict get $values count]
    lappend samples _sum $labels [dict get $values sum] _count $labels [dict get $values count]
    return $samples
}

proc nsstats::LogMetrics {} {
    set entries {}
    foreach {severity n} [ns_logctl stats] { lappend entries "" [dict create severity $severity] $n }
    set kinds {
        accepted  counter nsd_log_accepted_records  "Records handed to a sink."
        delivered counter nsd_log_delivered_records "Records that a sink has written."
        ignored   counter nsd_log_ignored_records   "Records that a sink leaves out."
        pending   gauge   nsd_log_pending_records   "Records that a sink still has to write."
        oldest    gauge   nsd_log_oldest_pending_seconds "Age of the oldest record that a sink still has to write; 0 if all are written."
        leftover      gauge nsd_log_leftover_records "Records of earlier processes that a sink still has to write."
        leftoverbytes gauge nsd_log_leftover_bytes   "Bytes of records of earlier processes that a sink still has to write."
        behind    gauge   nsd_log_behind_bytes      "Memory for records in use because of a sink."
        bound     gauge   nsd_log_max_behind_bytes  "Limit for the memory in use because of a sink: its maxmemory, or half of all."
        bytes     counter nsd_log_written_bytes     "Bytes that a sink has written."
        writes    counter nsd_log_writes            "Writes of a sink."
        errors    counter nsd_log_errors            "Writes of a sink that failed."
        syncs     counter nsd_log_syncs             "How often a sink has synced its file to the disk."
        writetime counter nsd_log_write_seconds     "Time that writes and syncs of a sink took."
        deepest   gauge   nsd_log_peak_records      "Largest number of records that have waited for a sink at once."
        longestwrite gauge nsd_log_longest_write_seconds "The longest write of a sink so far."
        trouble   gauge   nsd_log_trouble_seconds   "How long a sink has stalled or failed; 0 while it writes."
    }
    set memory [ns_logsink memory]
    set logmemory [dict get $memory bytes]
    set samples {}
    set dropped {}
    foreach sink [ns_logsink list] {
        # One that was removed meanwhile is not there.
        if {[catch {ns_logsink stats $sink} stats] || [catch {ns_logsink configure $sink -maxmemory} bound]} continue
        set labels [dict create sink $sink]
        dict set stats trouble [troubleSeconds $stats]
        dict set stats bound [expr {$bound > 0 ? min($bound, $logmemory) : $logmemory / 2}]
        foreach {key - - -} $kinds { dict lappend samples $key "" $labels [dict get $stats $key] }
        foreach {key n} $stats {
            if {[regexp {^dropped(.+)$} $key - reason]} {
                lappend dropped "" [dict replace $labels reason $reason] $n
            }
        }
    }
    return [list \
        [Family counter nsd_log_entries "Entries of the system log." $entries] \
        [Family counter nsd_log_dropped_records "Records that a sink lost." $dropped] \
        [Single gauge nsd_log_lanes "Chains of records, one for each thread that logs." \
            [dict get $memory lanes]] \
        [Single gauge nsd_log_memory_bytes "Memory for log records that are not written yet." $logmemory] \
        [Single gauge nsd_log_memory_used_bytes "Memory for log records that is in use." [dict get $memory used]] \
        [Single gauge nsd_log_memory_peak_bytes "Peak use of the memory for log records." [dict get $memory mostused]] \
        {*}[Families $kinds $samples]]
}

proc nsstats::SpoolSamples {key} {
    set samples {}
    foreach kind {body reply} {
        lappend samples "" [dict create kind $kind] [dict get [ns_info spool] $kind $key]
    }
    return $samples
}

# Families with a sample for each thread of a driver.
proc nsstats::ThreadFamilies {kinds threads} {
    set samples {}
    foreach stats $threads {
        set labels [dict create driver [dict get $stats module] thread [dict get $stats thread]]
        foreach {key - - -} $kinds { dict lappend samples $key "" $labels [dict get $stats $key] }
    }
    return [Families $kinds $samples]
}

proc nsstats::DriverMetrics {} {
    set kinds {
        received counter nsd_driver_received_requests "Requests that a driver thread received."
        spooled  counter nsd_driver_spooled_requests  "Requests that a driver thread handed to a spooler."
        partial  counter nsd_driver_partial_requests  "Requests that arrived in several pieces."
        errors   counter nsd_driver_errors            "Requests that a driver thread could not read."
        connections    gauge   nsd_driver_connections       "Connections that a driver thread has."
        maxconnections gauge   nsd_driver_connections_limit "Connections that a driver thread may have."
        reading        gauge   nsd_driver_reading_requests  "Requests that a driver thread has received in part."
        waiting        gauge   nsd_driver_waiting_requests  "Requests that a full pool has not queued yet."
        closing        gauge   nsd_driver_closing_connections "Connections that clients have not closed yet."
        refused        counter nsd_refused_connections      "Connections refused for lack of descriptors."
    }
    set threads [ns_driver stats]
    lassign {} refusals evictions
    foreach stats $threads {
        dict for {reason n} [dict get $stats evictions] {
            lappend evictions "" [dict create driver [dict get $stats module] thread [dict get $stats thread] reason $reason] $n
        }
        dict for {status n} [dict get $stats refusals] {
            lappend refusals "" [dict create driver [dict get $stats module] thread [dict get $stats thread] code $status] $n
        }
    }
    return [concat [ThreadFamilies $kinds $threads] [list \
        [Family counter nsd_evicted_connections "Connections that were closed to make room for others, by their state." $evictions] \
        [Family counter nsd_driver_refusals "Requests that a driver has refused, by the status of the reply." $refusals]]]
}

proc nsstats::WriterMetrics {} {
    set kinds {
        deliveries gauge   nsd_writer_deliveries   "Replies that a writer thread is sending."
        queued     gauge   nsd_writer_queued_bytes "Bytes that a writer thread still has to send."
        sent       counter nsd_writer_sent_bytes   "Bytes that a writer thread has sent."
    }
    return [ThreadFamilies $kinds [ns_writer stats]]
}

#
# Of the drivers for HTTPS, if there are any.
#
proc nsstats::TlsMetrics {} {
    if {[namespace which ns_certctl] eq ""} { return {} }
    set handshakes {}
    set failed {}
    foreach counts [ns_certctl handshakes] {
        set labels [dict create driver [dict get $counts module]]
        dict for {reason n} [dict get $counts failures] {
            lappend failed "" [dict replace $labels reason $reason] $n
        }
        foreach version {TLSv1.2 TLSv1.3 other} {
            foreach {kind isResumed} {full false resumed true} {
                lappend handshakes "" [dict replace $labels version $version resumed $isResumed] \
                    [dict get $counts $version $kind]
            }
        }
    }
    set ends {}
    foreach certificate [ns_certctl list] {
        lassign $certificate file - days
        dict set ends $file [expr {round([clock seconds] + $days * 86400)}]
    }
    set samples {}
    dict for {file end} $ends { lappend samples "" [dict create file $file] $end }
    return [list \
        [Family counter nsd_tls_handshakes "TLS handshakes with clients." $handshakes] \
        [Family counter nsd_tls_handshake_errors "Failed TLS handshakes." $failed] \
        [Family gauge nsd_tls_certificate_not_after_seconds "Time when a certificate ends, in seconds since 1970." $samples]]
}

proc nsstats::CacheMetrics {} {
    set kinds {
        entries gauge   nsd_cache_entries         "Entries in a cache."
        size    gauge   nsd_cache_size_bytes      "Size of the entries of a cache."
        maxsize gauge   nsd_cache_max_size_bytes  "Limit for the size of the entries of a cache; 0 = none."
        hits    counter nsd_cache_hits            "Look-ups in a cache that found an entry."
        missed  counter nsd_cache_misses          "Look-ups in a cache that found none."
        expired counter nsd_cache_expired_entries "Entries of a cache that were too old."
        pruned  counter nsd_cache_pruned_entries  "Entries of a cache that were removed to make room."
        flushed counter nsd_cache_flushed_entries "Entries of a cache that were flushed."
    }
    set samples {}
    foreach server [ns_info servers] {
        foreach cache [ns_cache_names -server $server] {
            set stats [ns_cache_stats -server $server -- $cache]
            set labels [dict create server $server cache $cache]
            foreach {key - - -} $kinds { dict lappend samples $key "" $labels [dict get $stats $key] }
        }
    }
    return [Families $kinds $samples]
}

#
# Locks of one kind, whose names differ in a number, are taken together; so are those
# that never got a name.
#
proc nsstats::LockMetrics {} {
    set taken {}
    set busy {}
    set waits {}
    foreach lock [ns_info locks] {
        lassign $lock name owner id nTaken nBusy wait
        if {$nTaken == 0} continue
        regsub -all {:(?:\d+|0x[0-9a-f]+)(?=:|$)} $name "" kind
        regsub {^mu\d+$} $kind unnamed kind
        dict incr taken $kind $nTaken
        dict incr busy $kind $nBusy
        dict set waits $kind [expr {$wait + ([dict exists $waits $kind] ? [dict get $waits $kind] : 0.0)}]
    }
    return [lmap {name help values} [list \
        nsd_lock_acquisitions "How often locks of a kind were taken."         $taken \
        nsd_lock_contentions  "How often a lock of a kind was busy."                       $busy \
        nsd_lock_wait_seconds "Time that threads have waited for locks of a kind." $waits] {
            set samples {}
            dict for {kind value} $values { lappend samples "" [dict create lock $kind] $value }
            Family counter $name $help $samples
    }]
}

proc nsstats::JobMetrics {} {
    set kinds {
        running gauge   nsd_running_jobs  "Jobs of ns_job that are running."
        queued  gauge   nsd_queued_jobs   "Jobs that wait for a thread."
        done    counter nsd_finished_jobs "Jobs that have ended or were cancelled."
    }
    set samples {}
    foreach stats [ns_job stats] {
        set labels [dict create queue [dict get $stats queue]]
        foreach {key - - -} $kinds { dict lappend samples $key "" $labels [dict get $stats $key] }
    }
    set threads [ns_job threadlist]
    set idle [dict get $threads numidle]
    return [list \
        [Family gauge nsd_job_threads "Threads that run jobs." [list \
            "" {state idle} $idle "" {state busy} [expr {[dict get $threads numthreads] - $idle}]]] \
        {*}[Families $kinds $samples]]
}

proc nsstats::ScheduleMetrics {} {
    set stats [ns_info schedulestats]
    # Those that take the most time.
    set samples {}
    foreach row [lrange [lsort -real -decreasing -index 1 [ns_info scheduletimes]] 0 9] {
        set args [lassign $row id seconds proc]
        set text [Short [join $args]]
        lappend samples "" [dict create id $id proc [expr {$text eq "" ? $proc : $text}]] $seconds
    }
    set slowest [Family counter nsd_scheduled_procedure_seconds \
        "Time that runs of a scheduled procedure took, for the ten that took the most." $samples]
    return [linsert [lmap {key type name help} {
        procs   gauge   nsd_scheduled_procedures         "Procedures that are scheduled."
        running gauge   nsd_running_scheduled_procedures "Scheduled procedures that are running."
        queued  gauge   nsd_queued_scheduled_procedures  "Scheduled procedures that are due and wait for a thread."
        runs    counter nsd_schedule_runs                "Runs of scheduled procedures."
        late    counter nsd_schedule_late_runs           "Runs that began more than a second after they were due."
        delay   counter nsd_schedule_delay_seconds       "Total delay of runs of scheduled procedures."
    } { Single $type $name $help [dict get $stats $key] }] end $slowest]
}
