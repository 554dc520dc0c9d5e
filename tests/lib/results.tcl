# SPDX-License-Identifier: MPL-2.0
# results.tcl --
#
#       What the suites printed, taken apart: which tests passed, failed or were
#       skipped, and for lack of what.

namespace eval results {
    # What a skipped test lacks: a constraint of tcltest, or SUITE:TEST; in words;
    # how to get it; and where nobody expects it:
    #     sanitizer   in a build with one
    #     rights      where the kernel does not grant it, as in many containers
    #     always      unless somebody asks for it
    variable lacks {
        exactMemory {an allocator that is not a sanitizer's} {} sanitizer
        mayPreload {a build without sanitizer, and cc} {} sanitizer
        faults {a build without sanitizer, and cc} {} sanitizer
        canTrace {ptrace, in a build without sanitizer} {apt-get install strace} {sanitizer rights}
        dump {core files that a test may read} {} {sanitizer rights}
        gdb {gdb, in a build without sanitizer} {apt-get install gdb} sanitizer
        hasGdb {gdb} {apt-get install gdb} sanitizer
        hasValgrind {valgrind} {apt-get install valgrind} {sanitizer always}
        faketime {libfaketime, in a build without sanitizer} {make packages-optional} sanitizer
        mayMount {mount} {as root} rights
        tmpfs {mount} {as root} rights
        mayFreeze {control groups that can be frozen} {as root} rights
        namespaces {namespaces for processes} {as root} rights
        ownNetwork {namespaces for networks, and curl} {as root} rights
        mknod {device files} {as root} rights
        clone {a clone of the repository} {} always
        root {root} {as root} rights
        notRoot {an ordinary user} {as an ordinary user} rights
        ipv6 {an address ::1} {} rights
        hasIpv6 {an address ::1} {} rights
        many {time, and thousands of WebSockets} {NSD_TEST_WEBSOCKETS=1} always
        prlimit {prlimit, in some suites without sanitizer} {apt-get install util-linux} sanitizer
        sqlite3program {sqlite3} {make packages-test} {}
        terminal {script} {apt-get install bsdutils} {}
        chromium {Chromium} {make packages-optional} {}
        axe {axe-core and Chromium} {make packages-optional; tools/axe} {}
        tidy {tidy} {make packages-optional} {}
        promtool {promtool} {make packages-optional} {}
        prometheus {Prometheus} {make packages-optional} {}
        rsyslogd {rsyslogd} {make packages-optional} {}
        postgresql {PostgreSQL} {make packages-optional} {}
        postgres {PostgreSQL} {make packages-optional} {}
        redis {hiredis and redis-server} {make packages-optional} {}
        kafka {Kafka, Java and kcat} {make packages-optional; tools/kafka} {}
        knownThreads {a build without ThreadSanitizer} {} sanitizer
        haproxy {HAProxy} {make packages-optional} {}
        nginx {nginx} {make packages-optional} {}
        nginxStream {nginx with its stream module} {make packages-optional} {}
        websockets {Python's websockets} {make packages-optional} {}
        wrk {wrk} {make packages-optional} {}
        allTypes {libpq} {make packages} {}
        brotli {libbrotli} {make packages} {}
        argon2 {libargon2} {make packages} {}
        unit/base_mutex_test:* {threads after fork} {} sanitizer
        unit/dispatch_check_test:* {checks of a debug build} {configure --enable-debug} always
        unit/log_check_test:* {checks of a debug build} {configure --enable-debug} always
        unit/log_lane_test:* {checks of a debug build} {configure --enable-debug} always
        unit/log_ring_test:* {root} {as root} rights
        unit/log_worker_test:* {two processors} {} rights
        unit/net_connect_test:* {ports that need rights} {} rights
    }
}

# The tests that a suite named: a list of {name state detail}.  The state is passed,
# failed or skipped; the detail is what a failed one printed, or the constraint that
# kept it from running.
proc results::tests {output} {
    set found {}
    set open ""
    set text ""
    set said ""
    foreach line [split $output \n] {
        if {$open ne ""} {
            append text $line\n
            if {$line eq "==== $open FAILED"} {
                lappend found [list $open failed $text]
                set open ""
            }
        } elseif {[regexp {^\+\+\+\+ (\S+) PASSED$} $line - name]
                  || [regexp {^\[       OK \] (.*)$} $line - name]} {
            lappend found [list $name passed ""]
        } elseif {[regexp {^\+\+\+\+ (\S+) SKIPPED: (.*)$} $line - name constraint]} {
            lappend found [list $name skipped $constraint]
        } elseif {[regexp {^\[  SKIPPED \] ([[:alpha:]]\w*)$} $line - name]} {
            lappend found [list $name skipped ""]
        } elseif {[string match {\[ RUN *} $line]} {
            set said ""
        } elseif {[regexp {^\[  FAILED  \] ([[:alpha:]]\w*)$} $line - name]} {
            if {[lsearch -exact -index 0 $found $name] < 0} { lappend found [list $name failed $said] }
        } elseif {[regexp {^==== (\S+) .*FAILED$} $line - open]} {
            set text $line\n
        } else {
            append said $line\n
        }
    }
    # cmocka names what failed or was skipped once more at the end.
    return [lsort -unique $found]
}

# Of what tcltest or cmocka printed of a failed test: how it failed, in a few lines.
# tcltest shows the test's source first.
proc results::reason {text} {
    set lines {}
    foreach line [split [string range $text [string first \n---- $text]+1 end] \n] {
        if {$line ne "" && ![string match "==== *" $line]} { lappend lines [string range $line 0 299] }
    }
    return [lrange $lines 0 9]
}

# Without the lines that only name a test.
proc results::withoutNames {output} {
    regsub -all -line {^\+\+\+\+ \S+ (PASSED|SKIPPED: .*)\n} $output {}
}

# Of a skipped test: {what it lacks} {how to get it} expected.
proc results::lack {suite name constraint isSanitized} {
    variable lacks
    foreach {pattern what how where} $lacks {
        if {$constraint ne "" ? $pattern eq $constraint : [string match $pattern $suite:$name]} {
            set isExpected [expr {"always" in $where || "rights" in $where
                                  || ($isSanitized && "sanitizer" in $where)}]
            return [list $what $how $isExpected]
        }
    }
    return [list [expr {$constraint eq "" ? "?" : $constraint}] "" 0]
}

# Rows of {suite n what how isExpected}, of all tests that were skipped.
# all: suite -> tests.
proc results::skipped {all isSanitized} {
    set counts {}
    dict for {suite tests} $all {
        foreach test $tests {
            lassign $test name state constraint
            if {$state ne "skipped"} continue
            dict incr counts [list $suite {*}[lack $suite $name $constraint $isSanitized]]
        }
    }
    set rows {}
    dict for {key n} $counts { lappend rows [linsert $key 1 $n] }
    return $rows
}

proc results::table {rows} {
    if {$rows eq ""} { return "" }
    set text [format "%-34s %5s  %s\n" skipped tests "for lack of"]
    foreach row [lsort -index 0 $rows] {
        lassign $row suite n what how
        append text [format "%-34s %5d  %s%s\n" $suite $n $what [expr {$how eq "" ? "" : " ($how)"}]]
    }
    return $text
}

proc results::xml {text} {
    regsub -all {[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]} $text ? text
    string map {& &amp; < &lt; > &gt; \" &quot;} $text
}

# The form that other programs read: JUnit's.  seconds: suite -> time.
proc results::junit {all seconds} {
    set xml "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
    dict for {suite tests} $all {
        set n [dict create passed 0 failed 0 skipped 0]
        set cases ""
        foreach test $tests {
            lassign $test name state detail
            dict incr n $state
            append cases "    <testcase classname=\"[xml $suite]\" name=\"[xml $name]\""
            switch -- $state {
                passed  { append cases "/>\n" }
                skipped { append cases "><skipped message=\"[xml $detail]\"/></testcase>\n" }
                failed  { append cases "><failure>[xml $detail]</failure></testcase>\n" }
            }
        }
        append xml "  <testsuite name=\"[xml $suite]\" tests=\"[llength $tests]\"\
            failures=\"[dict get $n failed]\" skipped=\"[dict get $n skipped]\"\
            time=\"[dict get $seconds $suite]\">\n$cases  </testsuite>\n"
    }
    append xml "</testsuites>\n"
}
