# SPDX-License-Identifier: MPL-2.0
# long.tcl --
#
#       The fault suite for as long as one likes.
#
#       tclsh8.6 tests/fault/long.tcl ?SECONDS? ?SEED?
#
#       Scenarios follow each other in an order that the seed gives, with kills or
#       without, now and then after 40 seconds of silence or with a server that was
#       started anew.  A line for each; the problems behind those that have any, and
#       then a new site.  The status is 1 if there was a problem.

lassign $argv seconds seed
set argv {}
source [file join [file dirname [info script]] faults.tcl]
if {$seconds eq ""} { set seconds 3600 }
if {$seed eq ""} { set seed [clock seconds] }

# A number from 0 to $n - 1.  The state is ours: scenarios draw numbers, too.
proc draw {n} {
    global seed
    set seed [expr {($seed * 1103515245 + 12345) & 0x7fffffff}]
    return [expr {($seed >> 8) % $n}]
}

if {[set reason [fault::available]] ne ""} {
    puts "no faults can be had: $reason"
    exit 2
}
puts "seed $seed, $seconds seconds"
set end [expr {[clock seconds] + $seconds}]
set n 0
set nFailed 0
fault::startSite
while {[clock seconds] < $end} {
    set name [lindex [dict keys $fault::scenarios] [draw [dict size $fault::scenarios]]]
    set silence [expr {[draw 20] == 0}]
    set command [lindex {run run killed} [draw 3]]
    set number [draw 1000000]
    if {$silence} { after 40000 }
    if {[catch {fault::$command $name $number} problems]} { set problems [list $::errorInfo] }
    incr n
    puts "[clock format [clock seconds] -format %T] $command $name $number[expr {$silence ? " after silence" : ""}]: [llength $problems] problems"
    if {[llength $problems] > 0} {
        incr nFailed
        puts "    [join $problems "\n    "]"
        puts [string range [consoleLog] end-4000 end]
    }
    flush stdout
    # Logs grow, and the comparison with them.
    if {[llength $problems] > 0 || [draw 10] == 0} {
        fault::end
        if {[catch {stopServer} status] || $status != 0} {
            puts "    the stop: $status"
            incr nFailed
        }
        if {[llength $problems] == 0} { file delete -force [home] }
        fault::startSite
    }
}
fault::end
catch {stopServer}
fault::cleanup
puts "$n scenarios, $nFailed with problems"
if {$nFailed > 0} { set env(NSD_TEST_KEEP) 1 }
foreach handle [array names harness::servers] {
    if {$nFailed == 0} { file delete -force [home $handle] }
}
exit [expr {$nFailed > 0}]
