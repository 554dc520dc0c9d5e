# SPDX-License-Identifier: MPL-2.0
# status.tcl --
#
#       The figures of the running server that the start page shows.

namespace eval welcome {}

#
# A dict of texts that need no more than a unit.  Durations are in microseconds,
# memory in bytes; `run` has the median and the 99 % of all pages, `busy` how many
# threads run a request, and how many there may be.
#
proc welcome::status {} {
    # Those that status.tcl has answered count for nothing.
    set requests [expr {-[nsv_set -default welcome own 0]}]
    set busy 0
    set max 0
    foreach pool [ns_server pools] {
        set threads [ns_server -pool $pool threads]
        incr requests [dict get [ns_server -pool $pool stats] requests]
        incr busy [expr {[dict get $threads current] - [dict get $threads idle]}]
        incr max [dict get $threads max]
    }
    set histogram [dict get [ns_server histogram] run]
    set run [lmap point {p50 p99} { expr {round([dict get $histogram $point] * 1e6)} }]
    return [dict create version [ns_info release] uptime [ns_info uptime] requests $requests \
        errors [dict get [ns_logctl stats] Error] run $run busy [list [expr {max(0, $busy - 1)}] $max] memory [Memory]]
}

#
# Resident memory, from the kernel; 0 where it does not tell.
#
proc welcome::Memory {} {
    if {[catch {open /proc/self/status} channel]} {
        return 0
    }
    set text [read $channel]
    close $channel
    if {![regexp {VmRSS:\s+(\d+) kB} $text - kilobytes]} {
        return 0
    }
    return [expr {$kilobytes * 1024}]
}

#
# A dict of numbers, lists of numbers and words as a JSON object.
#
proc welcome::json {dict} {
    set members {}
    dict for {name value} $dict {
        if {[llength $value] > 1} {
            set value \[[join $value {, }]\]
        } elseif {![string is wideinteger -strict $value]} {
            set value [ns_json value -type string $value]
        }
        lappend members "\"$name\": $value"
    }
    return "{[join $members {, }]}\n"
}

#
# One figure as an entry of a <dl>, with an explanation and perhaps a link; live.js
# formats it by its unit and keeps it up to date.  Label, explanation and link are
# HTML.
#
proc welcome::figure {status name label unit about {link ""}} {
    set value "<b data-figure=\"$name\" data-unit=\"$unit\">[ns_quotehtml [dict get $status $name]]</b>"
    if {$link ne ""} { set value "<a href=\"$link\">$value</a>" }
    return "<div title=\"$about\"><dt>$label</dt><dd>$value</dd></div>"
}
