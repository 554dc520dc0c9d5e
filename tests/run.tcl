# SPDX-License-Identifier: MPL-2.0
# run.tcl --
#
#       Runs all suites and adds up their results.  The last line is
#       `N passed, N failed, N skipped`; the exit status is 0 only if none failed.
#
#       tclsh tests/run.tcl ?-only GLOB ...? ?-skip GLOB ...? ?-jobs N? ?-again? ?-verbose?
#
#       GLOB is matched against names such as unit/http_parse_test,
#       command/ns_set, wire/static, stress/pool_stress, model/run; -again runs what
#       failed last.  obj/test-results.xml has each test, in JUnit's form.
#
#       With REQUIRE_ALL=1 in the environment, a test that is skipped for lack of
#       something that can be had is a failure.

set root [file dirname [file dirname [file normalize [info script]]]]
cd $root
source tests/lib/results.tcl

set only {}
set skip {}
set verbose 0
set isAgain 0
# Suites wait more than they work.
set jobs 3
for {set i 0} {$i < [llength $argv]} {incr i} {
    switch -- [lindex $argv $i] {
        -only    { lappend only [lindex $argv [incr i]] }
        -skip    { lappend skip [lindex $argv [incr i]] }
        -jobs    { set jobs [lindex $argv [incr i]] }
        -again   {
            if {[catch {exec cat obj/failed-suites} suites] || $suites eq ""} {
                puts "0 passed, 0 failed, 0 skipped"
                exit 0
            }
            lappend only {*}$suites
            set isAgain 1
        }
        -verbose { set verbose 1 }
        default  { puts stderr "unknown option [lindex $argv $i]"; exit 2 }
    }
}

# A sanitizer's report makes its suite fail, whatever the tests in it said.  Each
# suite has a directory for the reports of all its processes: what they print may
# end in some log.  Servers that changed their user write there, too.
set reports $root/obj/reports
file delete -force $reports
if {![info exists env(ASAN_OPTIONS)]} {
    # Tests ask for more memory than there is.
    set env(ASAN_OPTIONS) detect_leaks=1:allocator_may_return_null=1
}
if {![info exists env(TSAN_OPTIONS)]} {
    # A server that ends at its deadline leaves threads behind: no report of that.
    set env(TSAN_OPTIONS) "report_thread_leaks=0 allocator_may_return_null=1 second_deadlock_stack=1 suppressions=$root/tests/lib/tsan.supp"
}
if {![info exists env(UBSAN_OPTIONS)]} {
    set env(UBSAN_OPTIONS) print_stacktrace=1
}
foreach name {ASAN TSAN UBSAN} { set sanitizer(${name}_OPTIONS) $env(${name}_OPTIONS) }

# The processes that are started next report there.
proc reportTo {directory} {
    global env sanitizer
    file mkdir $directory
    file attributes $directory -permissions 01777
    foreach {name options} [array get sanitizer] {
        set env($name) "$options:log_path=$directory/report"
    }
}

proc sanitizerReports {name} {
    global reports
    set text ""
    foreach file [lsort [glob -nocomplain -directory $reports/$name *]] {
        set channel [open $file]
        append text "\n$file:\n[read $channel 20000]"
        close $channel
    }
    return $text
}

# suite -> command
set suites {}
foreach file [lsort [glob -nocomplain tests/unit/*_test.c]] {
    set name [file rootname [file tail $file]]
    lappend suites unit/$name obj/tests/unit/$name
}
foreach file [lsort [glob -nocomplain tests/stress/*_stress.c]] {
    set name [file rootname [file tail $file]]
    lappend suites stress/$name obj/tests/stress/$name
}
if {[file exists tests/model/run]} {
    lappend suites model/run tests/model/run
}
# The longest one first, so that nothing waits for it in the end.
foreach kind {fault command wire site} {
    foreach file [lsort [glob -nocomplain tests/$kind/*.test]] {
        lappend suites $kind/[file rootname [file tail $file]] \
            [list [info nameofexecutable] -encoding utf-8 $file -verbose {body error pass skip}]
    }
}

# The counts in a suite's output, in any of the forms that the suites print.
proc counts {output} {
    set passed 0
    set failed 0
    set skipped 0
    set found 0
    foreach line [split $output \n] {
        if {[regexp {Total\s+(\d+)\s+Passed\s+(\d+)\s+Skipped\s+(\d+)\s+Failed\s+(\d+)} \
                 $line - - p s f]} {
            incr passed $p; incr skipped $s; incr failed $f; set found 1
        } elseif {[regexp {^\[  PASSED  \] (\d+) test} $line - p]} {
            incr passed $p; set found 1
        } elseif {[regexp {^\[  FAILED  \] (\d+) test} $line - f]} {
            incr failed $f; set found 1
        } elseif {[regexp {^\[  SKIPPED \] (\d+) test} $line - s]} {
            incr skipped $s; set found 1
        } elseif {[regexp {^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$} $line - p f s]} {
            incr passed $p; incr failed $f; set found 1
            if {$s ne ""} { incr skipped $s }
        }
    }
    return [list $found $passed $failed $skipped]
}

array set total {passed 0 failed 0 skipped 0}
set failures {}
set queue $suites
set running 0
set done 0
# A suite takes some minutes at most, also with a sanitizer on a busy machine.
set limitMs 2400000

# A suite that was misspelt would have passed.
if {!$isAgain} {
    foreach pattern $only {
        if {[lsearch -glob [dict keys $suites] $pattern] < 0} { puts stderr "no suite $pattern"; exit 2 }
    }
}

proc isAnyOf {patterns name} {
    foreach pattern $patterns { if {[string match $pattern $name]} { return 1 } }
    return 0
}
proc isWanted {name} {
    global only skip
    expr {($only eq "" || [isAnyOf $only $name]) && ![isAnyOf $skip $name]}
}

# Each suite has a directory for temporary files, which goes with it.  Servers that changed
# their user write there, too.
set scratch /tmp/nsd-suites-[pid]
set nStarted 0
proc useScratch {} {
    global env scratch nStarted
    set env(TMPDIR) $scratch/[incr nStarted]
    file mkdir $env(TMPDIR)
    file attributes $env(TMPDIR) -permissions 01777
}

proc startNext {} {
    global queue running jobs done state reports limit limitMs
    while {$running < $jobs && [llength $queue] > 0} {
        set queue [lassign $queue name command]
        if {![isWanted $name]} continue
        reportTo $reports/$name
        useScratch
        if {[catch {open "|$command 2>@1" r} channel]} {
            report $name 0.0 $channel 1
            continue
        }
        incr running
        fconfigure $channel -blocking 0 -encoding binary -translation binary
        set state($channel) [list $name [clock milliseconds] ""]
        set limit($channel) [after $limitMs [list endSuite $channel]]
        after 5000 [list lookAt $channel 0]
        fileevent $channel readable [list readSuite $channel]
    }
    if {$running == 0 && [llength $queue] == 0} { set done 1 }
}

# A suite that does not end fails, and tells where its threads are.
proc endSuite {channel} {
    global limitMs
    set text "it does not end within [expr {$limitMs / 1000}] s\n"
    foreach pid [pid $channel] {
        catch {exec timeout 60 gdb -q -nx -batch -p $pid -ex "thread apply all backtrace 20" </dev/null 2>@1} stacks
        append text $stacks\n
        catch {exec kill -KILL $pid}
    }
    giveUp $channel $text
}

# A suite that has ended has no output any more.  If it goes on for 5 seconds, something that
# the suite has started keeps it open: that fails, too, and has to go.
proc lookAt {channel hadEnded} {
    global state
    if {![info exists state($channel)]} return
    set hasEnded 1
    foreach pid [pid $channel] {
        if {![catch {exec cat /proc/$pid/stat} text] && ![regexp {\) Z } $text]} { set hasEnded 0 }
    }
    if {!$hasEnded || !$hadEnded} {
        after 5000 [list lookAt $channel $hasEnded]
        return
    }
    set text "processes are left behind:\n"
    foreach {pid words} [holders $channel] {
        append text "$pid $words\n"
        catch {exec kill -KILL $pid}
    }
    giveUp $channel $text
}

# Other processes that have the pipe: pid and command line of each.
proc holders {channel} {
    set pipe ""
    foreach file [glob -nocomplain /proc/[pid]/fd/*] {
        if {[string match "pipe:*" [readLink $file]] && [file tail $file] eq [string range $channel 4 end]} { set pipe [readLink $file] }
    }
    set found {}
    foreach file [glob -nocomplain /proc/\[0-9\]*/fd/*] {
        set pid [lindex [file split $file] 2]
        if {$pid == [pid] || $pipe eq "" || [readLink $file] ne $pipe || [dict exists $found $pid]} continue
        catch {exec tr \\0 " " </proc/$pid/cmdline} words
        dict set found $pid $words
    }
    return $found
}
proc readLink {file} { expr {[catch {file readlink $file} target] ? "" : $target} }

proc giveUp {channel text} {
    global state running limit
    lassign $state($channel) name start output
    after cancel $limit($channel)
    unset state($channel)
    catch {close $channel}
    incr running -1
    report $name [expr {([clock milliseconds] - $start) / 1000.0}] $output\n$text 1
    startNext
}

proc readSuite {channel} {
    global state running limit
    lassign $state($channel) name start output
    append output [read $channel]
    if {![eof $channel]} {
        set state($channel) [list $name $start $output]
        return
    }
    after cancel $limit($channel)
    fconfigure $channel -blocking 1
    set broken [catch {close $channel} message]
    if {$broken} { append output "\n$message" }
    unset state($channel)
    incr running -1
    report $name [expr {([clock milliseconds] - $start) / 1000.0}] $output $broken
    startNext
}

# What failed in a suite, each with the first lines of how.
proc failedTests {output} {
    set lines {}
    foreach test [results::tests $output] {
        lassign $test name state text
        if {$state eq "failed"} { lappend lines $name {*}[lmap line [results::reason $text] { string cat "  " $line }] }
    }
    foreach line [split $output \n] {
        if {[regexp {((?:Thread|Address|Leak)Sanitizer: .*|runtime error: .*)$} $line - report]
            && $report ni $lines} {
            lappend lines $report
        }
    }
    return [lrange $lines 0 99]
}

# Each suite's tests, and how long it took.
set tests {}
set seconds {}

proc report {name time output broken} {
    global total verbose failures tests seconds
    lassign [counts $output] found passed failed skipped
    dict set tests $name [results::tests $output]
    dict set seconds $name $time
    set output [results::withoutNames $output]
    append output [sanitizerReports $name]
    if {[regexp {(ThreadSanitizer|AddressSanitizer|LeakSanitizer|runtime error):} $output] && $failed == 0} {
        set broken 1
    }
    # A suite that ends badly, or says nothing, counts as one failed test.
    if {($broken && $failed == 0) || !$found} { incr failed }
    incr total(passed) $passed
    incr total(failed) $failed
    incr total(skipped) $skipped
    puts [format "%-34s %4d passed %3d failed %3d skipped  %6.1f s" \
              $name $passed $failed $skipped $time]
    if {$failed > 0 || $verbose} { puts $output }
    if {$failed > 0} { lappend failures $name [failedTests $output] }
    flush stdout
}

proc writeTo {file text} {
    set channel [open $file w]
    fconfigure $channel -encoding utf-8
    puts $channel $text
    close $channel
}

startNext
if {!$done} { vwait done }
file delete -force $scratch

set isSanitized [regexp {lib[at]san} [exec ldd nsd/libnsd.so]]
set skips [results::skipped $tests $isSanitized]
puts -nonewline [results::table $skips]
if {[info exists env(REQUIRE_ALL)] && $env(REQUIRE_ALL) ne ""} {
    foreach row $skips {
        lassign $row suite n what how isExpected
        if {$isExpected} continue
        incr total(failed) $n
        incr total(skipped) -$n
        lappend failures $suite [list "$n skipped for lack of $what"]
    }
}
writeTo obj/test-results.xml [results::junit $tests $seconds]
writeTo obj/failed-suites [join [dict keys $failures] \n]
# Once more, where a log that was cut shows it.
foreach {name tests} $failures {
    puts "FAILED: $name"
    foreach test $tests { puts "    $test" }
}
puts "$total(passed) passed, $total(failed) failed, $total(skipped) skipped"
exit [expr {$total(failed) > 0}]
