# SPDX-License-Identifier: MPL-2.0
# schedule.tcl --
#
#       A procedure that runs every two seconds, whether anybody looks or not.  A site
#       schedules it in its Tcl library, at the start; here the first visitor does.

if {[nsv_incr schedule starts] == 1} {
    nsv_set schedule runs 0
    nsv_set schedule id [ns_schedule_proc 2 {
        nsv_incr schedule runs
        nsv_set schedule last [clock seconds]
        # One that fails is an Error in the log, and runs again.
        if {[nsv_exists schedule fails]} { nsv_unset schedule fails; error "asked to fail by schedule.tcl" }
    }]
}
# Another visitor may be the first, just now.
if {![nsv_exists schedule id]} { return [ns_returnunavailable] }

if {[ns_conn method] eq "POST"} {
    switch [ns_queryget action] {
        pause   { ns_pause [nsv_get schedule id] }
        resume  { ns_resume [nsv_get schedule id] }
        fail    { nsv_set schedule fails 1 }
        default { return [ns_returnbadrequest "There is no such action."] }
    }
    return [ns_returnredirect [ns_conn url]]
}

set last "not yet"
if {[nsv_exists schedule last]} { set last [clock format [nsv_get schedule last] -format %H:%M:%S] }
welcome::reply "A scheduled procedure" "[welcome::table [list "Runs since the start" [nsv_get schedule runs] "Last run" $last]]
<p>Reload the page to see more of them.</p>
<form method=\"post\" class=\"line\">
<button name=\"action\" value=\"pause\">Pause</button>
<button name=\"action\" value=\"resume\">Resume</button>
<button name=\"action\" value=\"fail\">Fail once</button>
</form>" "One thread runs all procedures, one after the other; long ones get threads of their own with -thread." \
    {process#scheduled-procedures monitoring}
