# SPDX-License-Identifier: MPL-2.0
# ctl.tcl --
#
#       What `nsd ctl` can ask a running server, as far as a script answers it:
#       ready, drain, reopen and stop are answered without an interpreter.
#
#       Replies are the blocks of the monitor, as text or, with --json, as JSON; the
#       monitor's own views are among them.  Loaded when the first request of a
#       session comes, in a thread of its own.

namespace eval ::nsd::ctl {
    # Of the request at hand.  The server is "" unless --server names it.
    variable isJson 0
    variable server ""

    # Name, words, what it does; in the order of `help`.
    variable commands {
        status   ""                       "state, process, addresses, figures, what needs attention"
        ready    ""                       "whether new requests are welcome: status 0, else 1"
        stats    ?view?                   "a view of the monitor: pools, times, drivers, locks, ..."
        metrics  ""                       "the figures for a monitoring system, as /metrics gives them"
        requests "?--slow seconds?"       "running and waiting requests"
        slowest  "?--errors? ?--since time?" "the slowest requests of the last hour, or the last that failed"
        routes   ""                       "figures of each handler and page: which take time, which fail"
        stack    id                       "Tcl stack of a running request"
        cancel   "id ?text?"              "end a running request"
        log      "?severity on|off?"      "severities; or: log sinks, log leftovers, log forget name"
        logs     "?option ...?"           "the newest records of the log memory; --follow keeps printing"
        roll     "?sink?"                 "start new log files"
        reopen   ""                       "open log files again by their names"
        get      "?name?"                 "parameters that can change while the server runs; [section/]name"
        set      "name value ?pool?"      "change one until the next start or reload"
        drain    on|off                   "whether load balancers should stop sending requests"
        reload   "?--dry-run|--libraries?" "apply the configuration file; or reload the Tcl libraries"
        stop     "?-timeout time?"        "end the server, and wait for its end"
        restart  ""                       "execute the program again; no connection is refused"
        eval     script                   "run a script in an interpreter of the server"
        shell    ""                       "run scripts from standard input, one after the other"
        help     ?command?                "this list"
    }
}

#
# The reply to the words of a request, or an error.
#
proc ::nsd::ctl::Answer {uid request} {
    variable isJson 0
    variable server ""
    variable commands
    while {[string match --* [lindex $request 0]]} {
        set request [lassign $request option]
        switch -- $option {
            --json   { set isJson 1 }
            --server { set request [lassign $request server] }
            default  { return -code error -errorcode {TCL WRONGARGS} "unknown option $option: it is --json or --server NAME" }
        }
    }
    set words [lassign $request command]
    if {$command eq "complete"} { return [Complete [lindex $words 0]] }
    if {$command eq "names"} { return [Names [lindex $words 0]] }
    set known [lmap {name usage text} $commands { set name }]
    if {$command ni $known} {
        return -code error -errorcode {TCL WRONGARGS} "unknown command $command: it is one of [join [lsort $known] {, }]"
    }
    if {$command in {eval set cancel roll reload log}} { Note $uid $request }
    set code NONE
    if {[catch { Do-$command {*}$words } result options]} {
        # The errors of a script are its own.
        if {$command eq "eval"} {
            set result [dict get $options -errorinfo]
        } elseif {[lrange [dict get $options -errorcode] 0 1] eq "TCL WRONGARGS"} {
            # The words of a procedure are not those of nsd ctl.
            if {[string match "wrong # args: *" $result]} { set result "usage: nsd ctl [Usage $command]" }
            set code {TCL WRONGARGS}
        }
    }
    return -code [expr {[dict get $options -code] ? "error" : "ok"}] -errorcode $code $result
}

#
# A command does not understand its words: the client ends with another status.
#
proc ::nsd::ctl::BadWords {command} {
    return -level 2 -code error -errorcode {TCL WRONGARGS} "usage: nsd ctl [Usage $command]"
}

#
# What shells complete, a name per line; no Notice is due for it.
#
proc ::nsd::ctl::Names {kind} {
    switch -- $kind {
        servers { return [join [ns_info servers] \n] }
        sinks   { return [join [ns_logsink list] \n] }
    }
}

#
# What may stand for a word of a script that has begun: variables, and commands with
# the namespaces that have some.
#
proc ::nsd::ctl::Complete {word} {
    # It is no pattern.
    set quoted [string map {\\ \\\\ * \\* ? \\? [ \\[ ] \\]} $word]
    if {[string match {$*} $word]} {
        return [lmap name [lsort [uplevel #0 [list info vars [string range $quoted 1 end]*]]] { string cat \$ $name }]
    }
    set inside [expr {[string match ::* $word] ? "" : "::"}]$word
    set spaces [lmap space [namespace children [expr {[namespace qualifiers $inside] eq "" ? "::" : [namespace qualifiers $inside]}]] {
        if {![string match ${quoted}* [string trimleft $space :]] && ![string match ${quoted}* $space]} continue
        string cat [expr {[string match ::* $word] ? $space : [string trimleft $space :]}] ::
    }]
    return [lsort [concat [uplevel #0 [list info commands $quoted*]] $spaces]]
}

#
# Who changes something is known, before it happens: a script may not end.
#
proc ::nsd::ctl::Note {uid request} {
    set request [join $request " "]
    ns_log Notice "control: user $uid: [string range $request 0 199]"
    foreach sink [ns_logsink list] {
        if {"audit" in [dict get [ns_logsink info $sink] streams]} {
            ns_audit control uid $uid server [ns_info server] command $request
            break
        }
    }
}

proc ::nsd::ctl::Usage {command} {
    variable commands
    foreach {name usage text} $commands {
        if {$name eq $command} { return [string trimright "$name $usage"] }
    }
}

#
# The monitor's views, also in a server without the monitor.
#
proc ::nsd::ctl::NeedViews {} {
    if {[info commands ::nsstats::View-overview] ne ""} return
    namespace eval ::nsstats {}
    foreach file {blocks facts views slowest routes messages metrics actions} {
        uplevel #0 [list source [file join [ns_library shared] nsstats $file.tcl]]
    }
}

proc ::nsd::ctl::Show {blocks} {
    variable isJson
    NeedViews
    if {$isJson} { return [::nsstats::json $blocks] }
    set parts {}
    foreach block $blocks {
        set text [Plain-[dict get $block kind] $block]
        if {$text ne ""} { lappend parts $text }
    }
    return [join $parts "\n\n"]
}

#
# A text with its control characters as escapes: those of a route's name, say, would break
# a line, or give orders to the terminal.
#
proc ::nsd::ctl::Visible {text} {
    set result ""
    while {[regexp -indices {[\u0000-\u001f\u007f-\u009f]} $text place]} {
        set at [lindex $place 0]
        set char [string index $text $at]
        append result [string range $text 0 $at-1] [switch -- $char {
            \n { string cat {\n} }
            \r { string cat {\r} }
            \t { string cat {\t} }
            default { format {\x%02x} [scan $char %c] }
        }]
        set text [string range $text $at+1 end]
    }
    return $result$text
}

proc ::nsd::ctl::Plain-figures {block} {
    set lines {}
    set width [Width [lmap {label type value} [dict get $block items] { Visible $label }]]
    foreach {label type value} [dict get $block items] {
        lappend lines [format "%-*s  %s" $width [Visible $label] [Visible [::nsstats::Text $type $value]]]
    }
    return [join $lines \n]
}

proc ::nsd::ctl::Plain-table {block} {
    set columns [dict get $block columns]
    set heads [lmap {head type} $columns { set head }]
    set rows [lmap row [dict get $block rows] { lmap cell [::nsstats::Cells $columns $row] { Visible $cell } }]
    set widths {}
    for {set i 0} {$i < [llength $heads]} {incr i} {
        lappend widths [Width [concat [list [lindex $heads $i]] [lmap row $rows { lindex $row $i }]]]
    }
    set lines {}
    if {[dict get $block title] ne ""} { lappend lines [dict get $block title] }
    foreach row [concat [list $heads] $rows] {
        set line ""
        foreach cell $row width $widths {head type} $columns {
            set isRight [expr {$type in {count number bytes time share}}]
            append line [format "%[expr {$isRight ? "" : "-"}]*s  " $width $cell]
        }
        lappend lines [string trimright $line]
    }
    return [join $lines \n]
}

proc ::nsd::ctl::Plain-bars {block} {
    set items {}
    foreach {label n} [dict get $block counts] { lappend items $label count $n }
    return "[dict get $block title]\n[Plain-figures [dict create items $items]]"
}

proc ::nsd::ctl::Plain-alerts {block} { return [join [lmap sentence [dict get $block sentences] { Visible $sentence }] \n] }
proc ::nsd::ctl::Plain-note   {block} { return [dict get $block text] }
# What needs a screen.
proc ::nsd::ctl::Plain-chart  {block} {}
proc ::nsd::ctl::Plain-form   {block} {}
proc ::nsd::ctl::Plain-links  {block} {}
proc ::nsd::ctl::Plain-choices {block} {}
proc ::nsd::ctl::Plain-button {block} {}

proc ::nsd::ctl::Width {texts} {
    set width 0
    foreach text $texts { set width [expr {max($width, [string length $text])}] }
    return $width
}

proc ::nsd::ctl::Do-status {} {
    NeedViews
    set requests 0
    set running 0
    set waiting 0
    ::nsstats::forPools {server pool} {
        set stats [ns_server -server $server -pool $pool stats]
        incr requests [dict get $stats requests]
        incr running [llength [ns_server -server $server -pool $pool active]]
        incr waiting [ns_server -server $server -pool $pool waiting]
    }
    set addresses [lmap driver [ns_driver info] { dict get $driver location }]
    return [Show [list \
        [::nsstats::figures [list \
            State text [expr {[ns_info shutdownpending] ? "stopping" : "running"}] \
            Process id [ns_info pid] \
            Version text "[ns_info name]/[ns_info patchlevel]" \
            "Running for" time [ns_info uptime] \
            Configuration text [ns_info config] \
            Servers text [join [ns_info servers] ", "] \
            Addresses text [join [lsort -unique $addresses] ", "] \
            Requests count $requests \
            Running count $running \
            Waiting count $waiting \
            "Set by hand" text [join [SetByHand] ", "]]] \
        [::nsstats::alerts [::nsstats::SinkTroubles]]]]
}

#
# Parameters that a script or `nsd ctl set` has changed.
#
proc ::nsd::ctl::SetByHand {} {
    set names {}
    foreach setting [ns_setting list] {
        dict with setting {
            if {$byhand} { lappend names $section/$name=$value }
        }
    }
    return $names
}

proc ::nsd::ctl::Do-stats {{view overview}} {
    NeedViews
    set names [lsearch -all -inline -not -exact [::nsstats::names] messages]
    if {$view ni $names} {
        return -code error "no view $view: it is one of [join [lsort $names] {, }]"
    }
    if {$view eq "requests"} { return [Do-requests] }
    return [Show [::nsstats::view $view]]
}

proc ::nsd::ctl::Do-metrics {} {
    NeedViews
    return [::nsstats::metrics 0]
}

proc ::nsd::ctl::Do-requests {{option --slow} {seconds 0}} {
    NeedViews
    if {$option ne "--slow" || ![string is double -strict $seconds]} {
        BadWords requests
    }
    set rows {}
    ::nsstats::forPools {server pool} {
        foreach request [ns_server -server $server -pool $pool all] {
            lassign $request id peer state method url elapsed sent
            if {$elapsed < $seconds} continue
            lappend rows [list $elapsed $state $id $method $url $peer $server [::nsstats::poolName $pool] $sent]
        }
    }
    return [Show [list [::nsstats::table "" {
        Elapsed time State text Id text Method text URL text Peer text Server text Pool text Sent bytes
    } [lsort -real -decreasing -index 0 $rows]]]]
}

proc ::nsd::ctl::Do-slowest {args} {
    variable server
    NeedViews
    set errors 0
    set since 0
    while {[llength $args] > 0} {
        set args [lassign $args option]
        switch -- $option {
            --errors { set errors 1 }
            --since  {
                if {[llength $args] == 0} { BadWords slowest }
                set args [lassign $args text]
                set since [TimeOf $text]
            }
            default  { BadWords slowest }
        }
    }
    set servers [expr {$server eq "" ? [ns_info servers] : [list $server]}]
    return [Show [list [::nsstats::slowTable $servers $errors 0 $since]]]
}

#
# A time of day as tables show it, of today without a date; or seconds since 1970.
#
proc ::nsd::ctl::TimeOf {text} {
    if {[regexp {^\d+(\.\d+)?$} $text]} { return $text }
    foreach format {"%Y-%m-%d %H:%M:%S" "%Y-%m-%d %H:%M" %Y-%m-%d %H:%M:%S %H:%M} {
        if {![catch {clock scan $text -format $format} seconds]} { return $seconds }
    }
    return -code error -errorcode {TCL WRONGARGS} \
        "\"$text\" is no time: it is HH:MM, HH:MM:SS, these behind YYYY-MM-DD, or seconds since 1970"
}

proc ::nsd::ctl::Do-routes {} {
    variable server
    NeedViews
    return [Show [list [::nsstats::routeTable [expr {$server eq "" ? [ns_info servers] : [list $server]}]]]]
}

#
# The server in which a request of that id runs; of several, --server names one.
#
proc ::nsd::ctl::ServerOf {id} {
    variable server
    set found {}
    foreach candidate [expr {$server eq "" ? [ns_info servers] : [list $server]}] {
        foreach pool [ns_server -server $candidate pools] {
            set ids [lmap request [ns_server -server $candidate -pool $pool all] { lindex $request 0 }]
            if {$id in $ids} { lappend found $candidate }
        }
    }
    if {[llength $found] == 0} { return -code error "no request $id runs or waits" }
    if {[llength $found] > 1} {
        return -code error "servers [join $found { and }] have a request $id: name one by --server"
    }
    return [lindex $found 0]
}

proc ::nsd::ctl::Do-stack {id} {
    NeedViews
    set server [ServerOf $id]
    set problem ""
    set rows [::nsstats::StackRows $server/$id problem]
    if {$problem ne ""} { return -code error $problem }
    return [Show [list [::nsstats::table "Tcl stack, innermost first" {
        Level id Kind text Procedure text File text Line id Command text
    } $rows]]]
}

proc ::nsd::ctl::Do-cancel {id {text ""}} {
    if {[ns_server -server [ServerOf $id] cancel $id $text]} { return "" }
    return "$id is in a command that cannot be interrupted, and ends after that"
}

proc ::nsd::ctl::Do-log {{what ""} {value ""}} {
    NeedViews
    switch -- $what {
        ""        { return [Severities] }
        sinks     { return [Show [::nsstats::view logs]] }
        leftovers { return [ns_logsink leftovers] }
        forget    { return [ns_logsink forget $value] }
    }
    if {![string is boolean -strict $value]} {
        BadWords log
    }
    ns_logctl severity $what $value
    return [Severities]
}

proc ::nsd::ctl::Severities {} {
    set items {}
    foreach severity [lsort [ns_logctl severities]] {
        lappend items $severity text [expr {[ns_logctl severity $severity] ? "on" : "off"}]
    }
    return [Show [list [::nsstats::figures $items]]]
}

proc ::nsd::ctl::Do-roll {args} {
    if {[llength $args] > 1} { BadWords roll }
    if {[llength $args] == 1} { return [ns_logsink roll {*}$args] }
    # Those that are stalled make us wait; and none keeps the others from it.
    set sinks {}
    set stalled {}
    foreach sink [ns_logsink list] {
        if {[dict get [ns_logsink info $sink] type] ne "file"} continue
        lappend [expr {[dict get [ns_logsink stats $sink] state] eq "stalled" ? "stalled" : "sinks"}] $sink
    }
    set problems {}
    foreach sink [concat $sinks $stalled] {
        if {[catch {ns_logsink roll $sink} problem]} { lappend problems $problem }
    }
    if {[llength $problems] > 0} { error [join $problems \n] }
}

#
# Settings by name, or by section and name: "maxthreads", "ns/server/s1/maxthreads".
# An unknown name is an error.
#
proc ::nsd::ctl::SettingsOf {name} {
    set all [ns_setting list]
    set found [lmap setting $all {
        set full [dict get $setting section]/[dict get $setting name]
        if {![string equal -nocase $name $full] && ![string equal -nocase $name [dict get $setting name]]} continue
        set setting
    }]
    if {[llength $found] == 0} {
        set names [lsort -unique [lmap setting $all { dict get $setting name }]]
        return -code error "no setting $name that can change while the server runs: it is one of [join $names {, }]"
    }
    return $found
}

proc ::nsd::ctl::ShowSettings {settings} {
    set rows [lmap setting $settings {
        dict with setting { list $section $name $value $default $origin $range }
    }]
    return [Show [list [::nsstats::table "" {
        Section text Name text Value text Default text "Set by" text Range text
    } $rows]]]
}

proc ::nsd::ctl::Do-get {args} {
    NeedViews
    if {[llength $args] > 1} { BadWords get }
    return [ShowSettings [expr {[llength $args] ? [SettingsOf [lindex $args 0]] : [ns_setting list]}]]
}

#
# Of several sections that have a name, the one of the pool in the session's server.
#
proc ::nsd::ctl::Do-set {name value {pool ""}} {
    NeedViews
    set found [SettingsOf $name]
    if {[llength $found] > 1 || $pool ne ""} {
        set section ns/server/[ns_info server]
        if {$pool ne ""} { append section /pool/$pool }
        set sections [lmap setting $found { dict get $setting section }]
        set found [lmap setting $found {
            if {![string equal -nocase [dict get $setting section] $section]} continue
            set setting
        }]
        if {[llength $found] == 0} {
            return -code error "several sections have $name: name one, as in [lindex $sections 0]/$name"
        }
    }
    set setting [lindex $found 0]
    ns_setting set -ctl [dict get $setting section] [dict get $setting name] $value
    return [ShowSettings [SettingsOf [dict get $setting section]/[dict get $setting name]]]
}

proc ::nsd::ctl::Do-reload {args} {
    NeedViews
    switch -- $args {
        ""          { return [ShowReload [ns_setting reload]] }
        --dry-run   { return [ShowReload [ns_setting reload -dryrun]] }
        --libraries { return [ReloadLibraries] }
        default     { BadWords reload }
    }
}

proc ::nsd::ctl::ShowReload {lists} {
    set blocks {}
    foreach {name title heads} {
        applied "Applied"                            {"Old value" "New value"}
        restart "Needs a restart"                    {"In force" "In the file"}
        byhand  "Changed by hand, and left so"       {"In force" "In the file"}
    } {
        set rows [lmap item [dict get $lists $name] {
            dict with item {
                list $section $name [::nsstats::Public $name $old] [::nsstats::Public $name $new]
            }
        }]
        if {[llength $rows] == 0} continue
        lappend blocks [::nsstats::table $title [list Section text Name text \
            [lindex $heads 0] text [lindex $heads 1] text] $rows]
    }
    if {$blocks eq ""} {
        set blocks [list [::nsstats::note "The configuration has not changed."]]
    }
    return [Show $blocks]
}

proc ::nsd::ctl::Do-eval {script} { return [uplevel #0 $script] }

proc ::nsd::ctl::Do-help {args} {
    variable commands
    set lines {}
    foreach {name usage text} $commands {
        if {[llength $args] == 0 || $name in $args} {
            lappend lines [format "  %-26s %s" [string trimright "$name $usage"] $text]
        }
    }
    if {$lines eq ""} { return -code error "no command [join $args]" }
    set head "usage: nsd ctl ?-t FILE | --socket PATH? ?--server NAME? ?--json? COMMAND ?ARGUMENT ...?"
    return [join [concat [list $head] $lines] \n]
}

uplevel #0 [list source [file join [file dirname [info script]] libraries.tcl]]
