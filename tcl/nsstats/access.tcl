# SPDX-License-Identifier: MPL-2.0
# access.tcl --
#
#       Who may look at the monitor, and what happens at start.
#
#       The monitor is a module of scripts: `ns_param nsstats tcl` in the modules of
#       a server loads it.  It is read-only.

namespace eval nsstats {
    variable section ns/module/nsstats
}

proc nsstats::isEnabled {} {
    variable section
    return [ns_config -bool $section enabled false]
}

#
# What to do with this request: ok, unauthorized (a user and password are
# configured, and these are others) or forbidden (none are, and the client is not
# for certain on this machine).
#
proc nsstats::access {} {
    variable section
    set user [ns_config $section user ""]
    set password [ns_config $section password ""]
    if {$user ne "" || $password ne ""} {
        set isRight [expr {[ns_conn authuser] eq $user && [ns_conn authpassword] eq $password}]
        return [expr {$isRight ? "ok" : "unauthorized"}]
    }
    return [expr {[_ns_islocal] ? "ok" : "forbidden"}]
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
            ns_returnnotice 403 Forbidden "The monitor is shown only to clients on the server's own machine that ask for localhost,\
                and not through a proxy. For others, set <code>user</code> and <code>password</code> in section <code>$section</code>."
        }
    }
    return 0
}

if {[nsstats::isEnabled]} {
    ns_schedule_proc 5 nsstats::sample
}
if {[ns_config -bool $nsstats::section metrics false]} {
    ns_register_proc GET /metrics nsstats::answerMetrics
}
