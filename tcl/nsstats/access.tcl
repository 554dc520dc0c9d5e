# SPDX-License-Identifier: MPL-2.0
# access.tcl --
#
#       Who may look at the monitor, and what happens at start.
#
#       The monitor is a module of scripts: `ns_param nsstats tcl` in the modules of
#       a server loads it.  It is read-only but for the actions in actions.tcl.

namespace eval nsstats {
    variable section ns/module/nsstats
}

proc nsstats::isEnabled {} {
    variable section
    return [ns_config -bool $section enabled false]
}

#
# What to do with this request: ok, unauthorized (a user and password are
# configured, and these are others) or forbidden (none are, and the request does not
# come for certain from this machine, to the monitor's own port).
#
proc nsstats::access {} {
    variable section
    set user [ns_config $section user ""]
    set password [ns_config $section password ""]
    if {$user ne "" || $password ne ""} {
        set isRight [expr {[ns_conn authuser] eq $user && [ns_conn authpassword] eq $password}]
        return [expr {$isRight ? "ok" : "unauthorized"}]
    }
    return [expr {[IsOnOwnPort] && [IsForThisMachine] ? "ok" : "forbidden"}]
}

#
# Authors may look at the site's port as well: no proxy stands there.
#
proc nsstats::IsOnOwnPort {} {
    variable section
    set port [ns_config -int $section port 0]
    return [expr {[ns_config -bool ns/parameters development false] || ($port != 0 && $port == [ns_conn currentport])}]
}

#
# The host asked for is this machine at the port where the request came in: a proxy
# that passes on what it was asked for names its own.
#
proc nsstats::IsForThisMachine {} {
    set host [string tolower [ns_set iget [ns_conn headers] Host]]
    if {![_ns_islocal] || ![regexp {^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d+))?$} $host - port]} { return 0 }
    if {$port eq ""} { set port [expr {[ns_conn protocol] eq "https" ? 443 : 80}] }
    return [expr {$port eq [ns_conn currentport]}]
}

#
# What those who are on this machine can do instead, as HTML.
#
proc nsstats::WhereElse {} {
    variable section
    set port [ns_config -int $section port 0]
    if {$port == 0} { return "Without them, <code>port</code> there gives it a port of its own on this machine." }
    if {![_ns_islocal]} { return "" }
    set url [ns_quotehtml http://localhost:$port[ns_config $section url /nsstats.tcl]]
    return "On this machine it is at <a href=\"$url\">$url</a>."
}

#
# True when this request may go on; otherwise it has been answered.
#
proc nsstats::admit {} {
    variable section
    switch -- [access] {
        ok           { return 1 }
        unauthorized { ns_returnunauthorized }
        forbidden    {
            ns_returnnotice 403 Forbidden "The monitor answers only on this machine. Set <code>user</code> and\
                <code>password</code> in section <code>$section</code> to open it. [WhereElse]"
        }
    }
    return 0
}

if {[nsstats::isEnabled]} {
    nsv_set nsstats secret [ns_crypto::randombytes 32]
    ns_schedule_proc 5 nsstats::sample
    # A page of the site at this URL, perhaps another monitor, stays what it is.
    set url [ns_config $nsstats::section url /nsstats.tcl]
    if {$url ne "" && ![file exists [ns_server pagedir][string map {// /} /$url]]} {
        foreach method {GET HEAD POST} { ns_register_proc $method $url nsstats::answer }
    }
    unset url
}
if {[ns_config -bool $nsstats::section metrics false]} {
    ns_register_proc GET /metrics nsstats::answerMetrics
}
