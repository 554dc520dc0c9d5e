# SPDX-License-Identifier: MPL-2.0
# job.tcl --
#
#       Work that takes longer than a request should: a job does it, and the page asks
#       how far it is.

set title "A job with progress"
set cost "A thread while the job runs, two at most; others wait in the queue, ten at most. No thread waits for a job."
set manual {jobs shared-data#arrays}
set id [ns_queryget id]

if {[ns_conn method] eq "POST"} {
    # It may be there.
    catch {ns_job create examples 2}
    if {[llength [ns_job jobs examples]] >= 10} { return [ns_returnunavailable] }
    set id [ns_crypto::randombytes 8]
    nsv_set jobs $id 0
    ns_job queue -detached examples [list apply {{id fails} {
        if {[catch {
            for {set percent 5} {$percent <= 100} {incr percent 5} {
                ns_sleep 0.2
                if {$fails && $percent == 50} { error "this one was asked to fail" }
                nsv_set jobs $id $percent
            }
        } message]} {
            nsv_set jobs $id "failed: $message"
            ns_log Error "job $id: $message"
        }
        # Whoever started it may look for a minute.
        ns_schedule_proc -once 60 [list nsv_unset -nocomplain jobs $id]
    }} $id [ns_queryexists fails]]
    return [ns_returnredirect [ns_conn url]?id=$id]
}

set head ""
if {$id eq ""} {
    set html {<form method="post" class="stack">
<label><input type="checkbox" name="fails"> It fails half way</label>
<button>Start a job</button>
</form>}
} elseif {![nsv_exists jobs $id]} {
    return [welcome::reply 404 $title "[welcome::problem {There is no such job any more.}]
<p><a href=\"job.tcl\">Start another one</a></p>" $cost $manual]
} else {
    set state [nsv_get jobs $id]
    if {![string is integer -strict $state]} {
        set html "[welcome::problem "The job has $state"]<p><a href=\"job.tcl\">Start another one</a></p>"
    } elseif {$state == 100} {
        set html "<p role=\"status\">The job is done.</p><p><a href=\"job.tcl\">Start another one</a></p>"
    } else {
        # The page loads itself again.
        set head "<meta http-equiv=\"refresh\" content=\"1\">\n"
        set html "<p><progress max=\"100\" value=\"$state\" aria-label=\"Progress\"></progress> $state %</p>"
    }
}
welcome::reply $title $html $cost $manual $head
