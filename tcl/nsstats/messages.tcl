# SPDX-License-Identifier: MPL-2.0
# messages.tcl --
#
#       The view of log files: their last entries, by severity and by text.

namespace eval nsstats {
    # Bytes at the end of a file that are looked at.
    variable tailBytes 500000
}

proc nsstats::View-messages {} {
    set files [LogFiles]
    set log [ns_queryget log system]
    if {![dict exists $files $log]} { set log [lindex $files 0] }
    set severity [ns_queryget severity]
    set severities [lmap {name n} [ns_logctl stats] { set name }]
    if {$severity ni $severities} { set severity "" }
    set find [ns_queryget find]
    set since [ns_queryget since]
    set start [SinceSeconds $since]
    if {$start eq ""} { set since "" }
    set blocks [list [form messages [list \
        log Log $log [concat {*}[lmap name [dict keys $files] { list $name $name }]] \
        severity Severity $severity [list "" all {*}[concat {*}[lmap name $severities { list $name $name }]]] \
        since Since $since {} \
        find Containing $find {}]]]
    if {$log eq ""} {
        return [lappend blocks [note "No log is written to a file."]]
    }
    set file [dict get $files $log]
    if {$log in {system "system, in memory"}} {
        set entries [From $start [Entries [expr {$log eq "system" ? [Tail $file] : [Remembered $file]}]]]
        set hasIds [expr {[lsearch -not -exact -index 4 $entries ""] >= 0}]
        set columns {Time line Severity word Thread line Message text}
        if {$hasIds} { lappend columns Request link }
        set rows [lmap entry [lreverse [Matching $entries $severity $find]] {
            set id [lindex $entry 4]
            lreplace $entry 4 4 [list $id [expr {$id eq "" ? "" : [list view messages log $log find $id]}]]
        }]
        return [concat $blocks [Piece $rows $columns $log $severity $since $find]]
    }
    set rows [lmap line [lreverse [From $start [Tail $file]]] {
        if {$find ne "" && [string first $find $line] < 0} continue
        list $line
    }]
    return [concat $blocks [Piece $rows {Line text} $log "" $since $find]]
}

#
# What the field "since" means in seconds since 1970; {} for nothing.
#
proc nsstats::SinceSeconds {text} {
    foreach format {%Y-%m-%dT%H:%M %Y-%m-%dT%H:%M:%S "%Y-%m-%d %H:%M" %Y-%m-%d} {
        if {![catch { clock scan $text -format $format } seconds]} { return $seconds }
    }
    return ""
}

#
# The entries or lines from a time on; they are in order.
#
proc nsstats::From {start items} {
    if {$start eq ""} { return $items }
    set low 0
    set high [llength $items]
    while {$low < $high} {
        set middle [expr {($low + $high) / 2}]
        # One without a time that can be read counts as one of the next.
        set i $middle
        while {$i < $high && [set time [TimeOf [lindex $items $i]]] eq ""} { incr i }
        if {$i < $high && $time < $start} { set low [expr {$i + 1}] } else { set high $middle }
    }
    return [lrange $items $low end]
}

proc nsstats::TimeOf {item} {
    if {[regexp {(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d)(?:\.\d+)?( [-+]\d{4})?} $item - time zone]
        && ![catch { clock scan $time$zone -format "%d/%b/%Y:%H:%M:%S[expr {$zone eq "" ? "" : " %z"}]" } seconds]} { return $seconds }
    return ""
}

#
# A hundred of the rows, from the one that was asked for on, and the way to the others.
#
proc nsstats::Piece {rows columns log severity since find} {
    set skip [ns_queryget skip 0]
    if {![string is digit -strict $skip] || [string length $skip] > 6} { set skip 0 }
    set query [list view messages log $log severity $severity since $since find $find skip]
    set items {}
    if {$skip > 0} { lappend items Newer [list {*}$query [expr {max(0, $skip - 100)}]] }
    if {[llength $rows] > $skip + 100} { lappend items Older [list {*}$query [expr {$skip + 100}]] }
    return [list [table "" $columns [lrange $rows $skip $skip+99] {} "No such entries."] [links $items]]
}

#
# Name and file of each log that can be read.
#
proc nsstats::LogFiles {} {
    set files {}
    if {[file isfile [ns_info log]] && [file readable [ns_info log]]} {
        dict set files system [ns_info log]
    } else {
        set memory [dict get [ns_logsink memory] file]
        if {$memory ne ""} { dict set files "system, in memory" $memory }
    }
    foreach sink [ns_logsink list] {
        if {[catch {ns_logsink info $sink} info] || [dict get $info type] ne "file"} continue
        if {[file readable [dict get $info file]]} { dict set files $sink [dict get $info file] }
    }
    return $files
}

#
# The last lines of a file.
#
proc nsstats::Tail {file} {
    variable tailBytes
    # It may be rolled just now.
    if {[catch {open $file rb} channel]} { return {} }
    try {
        seek $channel 0 end
        set start [expr {max(0, [tell $channel] - $tailBytes)}]
        seek $channel $start
        set lines [split [encoding convertfrom utf-8 [read $channel $tailBytes]] \n]
    } finally {
        close $channel
    }
    # The first line is not whole, and behind the last newline there is none.
    return [lrange $lines [expr {$start > 0}] end-1]
}

#
# The last lines of the system log that are still in the log memory, when no file has
# them.
#
proc nsstats::Remembered {mapping} {
    if {[catch { exec [ns_info nsd] --logs $mapping --stream system | tail -n 1000 2>@1 } text]} { return {} }
    return [split $text \n]
}

#
# Entries of the system log: time, severity, thread, message and id of the request.
# Lines without a head of their own belong to the message before.
#
proc nsstats::Entries {lines} {
    set entries {}
    set entry {}
    foreach line $lines {
        if {[regexp {^\[([^]]+)\]\[[^]]*\]\[([^]]*)\](?:\[([^]]*)\])? ([^:]+(?:\([^)]*\))?): (.*)$} $line - \
                 time thread id severity message]} {
            if {$entry ne ""} { lappend entries $entry }
            set entry [list $time $severity $thread $message $id]
        } elseif {$entry ne ""} {
            # A colon marks lines that belong to the one before.
            regsub {^:    } $line "" line
            lset entry 3 "[lindex $entry 3]\n$line"
        }
    }
    if {$entry ne ""} { lappend entries $entry }
    return $entries
}

proc nsstats::Matching {entries severity find} {
    return [lmap entry $entries {
        if {$severity ne "" && [lindex $entry 1] ne $severity} continue
        if {$find ne "" && [string first $find [join $entry]] < 0} continue
        set entry
    }]
}
