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
    set blocks [list [form messages [list \
        log Log $log [concat {*}[lmap name [dict keys $files] { list $name $name }]] \
        severity Severity $severity [list "" all {*}[concat {*}[lmap name $severities { list $name $name }]]] \
        find Containing $find {}]]]
    if {$log eq ""} {
        return [lappend blocks [note "No log is written to a file."]]
    }
    set lines [Tail [dict get $files $log]]
    if {$log eq "system"} {
        set rows [lreverse [Matching [Entries $lines] $severity $find]]
        return [lappend blocks [table "" {Time text Severity text Thread text Message text} $rows]]
    }
    set rows [lmap line [lreverse $lines] {
        if {$find ne "" && [string first $find $line] < 0} continue
        list $line
    }]
    return [lappend blocks [table "" {Line text} $rows]]
}

#
# Name and file of each log that can be read.
#
proc nsstats::LogFiles {} {
    set files {}
    if {[file readable [ns_info log]]} { dict set files system [ns_info log] }
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
# Entries of the system log: time, severity, thread and message, to which lines
# without a head of their own belong.
#
proc nsstats::Entries {lines} {
    set entries {}
    set entry {}
    foreach line $lines {
        if {[regexp {^\[([^]]+)\]\[[^]]*\]\[([^]]*)\] ([^:]+(?:\([^)]*\))?): (.*)$} $line - \
                 time thread severity message]} {
            if {$entry ne ""} { lappend entries $entry }
            set entry [list $time $severity $thread $message]
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
