# SPDX-License-Identifier: MPL-2.0
# logload.tcl --
#
#       Threads of a server that write numbered audit records, as fast as a sink may have
#       to follow for long (some thousand a second).
#
#       startServer -init "$logload::script ..."
#       inServer startLoad
#       inServer stopLoad
#       logload::last THREAD       the number that thread (1, 2, 3) has surely handed over
#
#       A record is {"kind":"load",... "t":"THREAD","n":"NUMBER"}.

namespace eval logload {
    variable script {
        nsv_set load threads {}
        proc loadThread {t} {
            set channel [open [ns_info home]/load.$t w]
            nsv_incr load started
            for {set i 0} {![nsv_get load stop]} {incr i} {
                ns_audit load t $t n $i
                puts $channel $i
                flush $channel
                if {$i % 20 == 19} { after 10; loadWait }
            }
            close $channel
        }
        # A busy machine may write less than we log: requests to a sink come after all that.
        proc loadWait {} {
            while {![nsv_get load stop] && [loadPending] > 3000} { after 10 }
        }
        proc loadPending {} {
            set most 0
            foreach sink [ns_logsink list] {
                catch { set most [expr {max($most, [dict get [ns_logsink stats $sink] pending])}] }
            }
            return $most
        }
        proc startLoad {} {
            nsv_set load stop 0
            nsv_set load started 0
            foreach t {1 2 3} { nsv_lappend load threads [ns_thread create [list loadThread $t]] }
            # What an earlier run noted is gone when all are there.
            while {[nsv_get load started] < 3} { after 1 }
        }
        proc stopLoad {} {
            nsv_set load stop 1
            foreach thread [nsv_get load threads] { ns_thread wait $thread }
            nsv_set load threads {}
        }
    }
}

proc logload::last {t} {
    set numbers [split [string trim [readFile [home]/load.$t]] \n]
    expr {[llength $numbers] > 0 ? [lindex $numbers end] : -1}
}
