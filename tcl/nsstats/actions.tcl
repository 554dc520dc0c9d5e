# SPDX-License-Identifier: MPL-2.0
# actions.tcl --
#
#       What can be done with the monitor, where `actions` is on and a password is set:
#       end a request, and give back memory.  Each is a form that sends POST with a token,
#       which a page of somebody else's cannot know.

#
# Whether this client may.  For ctl, which has no client, nothing is offered.
#
proc nsstats::mayAct {} {
    variable section
    return [expr {[info exists section] && [ns_conn isconnected] && [ns_config -bool $section actions false]
                  && [ns_config $section password ""] ne ""}]
}

#
# What the forms of this user carry, until the process ends.
#
proc nsstats::token {} { return [ns_hmac_sha2 [nsv_get nsstats secret] [ns_conn authuser]] }

#
# Answer POST: act, and lead back to the view.
#
proc nsstats::act {} {
    set sent [ns_queryget token]
    # Digests are compared, so that the time does not tell where they differ.
    if {![mayAct] || [ns_sha2 $sent] ne [ns_sha2 [token]]
        || [ns_set iget [ns_conn headers] Sec-Fetch-Site same-origin] ni {same-origin none}} {
        ns_returnnotice 403 Forbidden "The form is too old, or it does not come from the monitor. Load the page again."
        return
    }
    set action [ns_queryget action]
    set what [ns_queryget what]
    switch -- $action {
        cancel  { set said [Cancel $what]; set view requests }
        release { ns_info meminfo -release; set said released; set view memory }
        default { ns_returnnotice 400 "Bad Request" "There is no such action."; return }
    }
    Note "$action $what: $said"
    ns_set update [ns_conn outputheaders] Location [lindex [ns_conn urlv] end]?view=$view&said=$said
    ns_return 303 text/plain ""
}

#
# End a request, SERVER/ID.
#
proc nsstats::Cancel {what} {
    if {![regexp {^(.*)/(cns\d+)$} $what - server id] || $server ni [ns_info servers]
        || [catch { ns_server -server $server cancel $id "cancelled in the monitor by [ns_conn authuser]" } isOver]} {
        return gone
    }
    return [expr {$isOver ? "cancelled" : "stuck"}]
}

#
# What was done, for who looks at the page next.
#
proc nsstats::said {} {
    switch -- [ns_queryget said] {
        cancelled { return "The request is being cancelled." }
        stuck     { return "The request is in a command that cannot be interrupted; it ends after that." }
        gone      { return "The request has already ended." }
        released  { return "Unused memory was returned to the system." }
    }
}

#
# Who changes something is known.
#
proc nsstats::Note {text} {
    ns_log Notice "monitor: user [ns_conn authuser] at [ns_conn peeraddr]: $text"
    foreach sink [ns_logsink list] {
        if {![catch { ns_logsink info $sink } info] && "audit" in [dict get $info streams]} {
            ns_audit monitor action $text
            break
        }
    }
}
