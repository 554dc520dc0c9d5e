# SPDX-License-Identifier: MPL-2.0
# server.tcl --
#
#       A real server for a test file, and HTTP over plain sockets.
#
#       source [file join [file dirname [info script]] .. lib server.tcl]
#       startServer -init { ns_register_proc GET /x { ns_return 200 text/plain hi } }
#       test x-1.1 {...} -body { dict get [http GET /x] body } -result hi
#       finish
#
#       startServer ?-config TEXT? ?-init SCRIPT? ?-pages {NAME CONTENT ...}?
#                   ?-serverconfig TEXT? ?-options WORDS? ?-mode -f? ?-expect running|exit?
#                   ?-check refuses|accepts? ?-prefix WORDS? ?-prepare SCRIPT?
#                   ?-preload FILES?
#           Starts nsd in a directory of its own on a free port and waits until it
#           listens (or, with -expect exit, until it has ended; `nsd -T` is to refuse
#           such a configuration, unless -check accepts).  Returns a handle.
#           TEXT is added to the configuration; $port and $home are set there.
#           SCRIPT runs before the start, when the directory is complete.
#           The words of -prefix stand before the command, as `prlimit --nofile=100`.
#           The FILES are preloaded: libraries, or sources in tests/lib (mayPreload).
#           The server is named "test" and also answers the commands below.
#       stopServer ?handle? ?signal?     ends it; its exit status
#       restartServer ?handle?           starts it again, in the same directory, after its end
#       inServer script ?handle?         evaluates script in a connection thread;
#                                        its result or error
#       http METHOD URL ?-headers {N V ...}? ?-body DATA? ?-version 1.1? ?-server h?
#                                        dict: status reason version headers body
#       connect ?handle?  send  readReply  replyBody  atEof  disconnect
#       port home consoleLog serverLog accessLog pageRoot complaints   ?handle?
#       ownMs script ?handle?            how long it takes, without waits for a processor
#       freePort                         a port for this file alone (see port.tcl)
#       waitForPort number               until something listens there
#       waitFor {condition} ?ms?         evaluates it until true; error when not
#       hasEnded pid                     a process has, perhaps unnoticed by its parent
#       isQuick ms script ?before?       true when one of some runs of the script took less than ms
#       compile NAME.c ?option ...?      the file that cc makes of a source in tests/lib:
#                                        with -shared a library, else a program
#       finish                           stops all, removes all, ends the file

package require Tcl 8.6
package require tcltest 2.3
namespace import -force ::tcltest::testConstraint

# What other programs are told and tell, in any locale.
encoding system utf-8
source [file join [file dirname [file normalize [info script]]] port.tcl]

namespace eval harness {
    variable root [file dirname [file dirname [file dirname [file normalize [info script]]]]]
    variable nServers 0
    variable current ""
    variable servers
    array set servers {}
    variable logMemory
    array set logMemory {}
    variable waits
    array set waits {}
    variable nSeen
    variable buildDirectory ""
}
tcltest::configure -verbose {body error} -testdir [file dirname [file normalize [info script]]]
tcltest::configure {*}$argv

# A sanitizer keeps what was freed for a while, and shadows of all memory.
testConstraint exactMemory [expr {![regexp {lib[at]san} [exec ldd $harness::root/nsd/libnsd.so]]}]
# A sanitizer wants to be loaded first.
testConstraint mayPreload [expr {[auto_execok cc] ne "" && [testConstraint exactMemory]}]

# A failed test shows what the servers logged meanwhile.
proc test {args} {
    set nFailed $::tcltest::numTests(Failed)
    harness::markLogs
    uplevel 1 [list ::tcltest::test {*}$args]
    if {$::tcltest::numTests(Failed) > $nFailed} { puts [harness::unseenLogs] }
}

# The limits of these procedures are for what must come: on a busy machine it may take
# long, and a limit that is not reached costs nothing.
proc waitFor {condition {ms 120000}} {
    set end [expr {[clock milliseconds] + $ms}]
    while {![uplevel 1 [list expr $condition]]} {
        if {[clock milliseconds] > $end} {
            if {[catch {uplevel 1 [list subst $condition]} value]} { set value "error: $value" }
            error "waited $ms ms in vain for: $condition\nwhich is: [string range $value end-2000 end]\n[harness::unseenLogs]"
        }
        after 10
    }
}

# A busy machine delays some of the runs, a fault of the server all of them.
proc isQuick {ms script {before {}}} {
    for {set i 0} {$i < 20} {incr i} {
        uplevel 1 $before
        set start [clock milliseconds]
        uplevel 1 $script
        if {[clock milliseconds] - $start < $ms} { return 1 }
    }
    return 0
}

# Stop a process for a while.  The signal takes effect when its threads run next.
proc freezeProcess {pid} {
    exec kill -STOP $pid
    waitFor {![catch {harness::threadStates $pid} states] && ![regexp {[^Tt ]} $states]}
}
proc thawProcess {pid} { exec kill -CONT $pid }
proc harness::threadStates {pid} {
    set states {}
    foreach file [processFiles $pid task/*/stat] {
        # The name before it may hold anything.
        regexp {.*\) (\S)} [readFile $file] - state
        lappend states $state
    }
    return $states
}

# The time in ms that a script takes, without that during which a thread of the server,
# or of ours, could have run and had no processor: what a busy machine adds.
proc ownMs {script {handle ""}} {
    array unset harness::waits
    harness::noteWaits [serverPid $handle]
    array set before [array get harness::waits]
    set start [clock milliseconds]
    uplevel 1 $script
    set ms [expr {[clock milliseconds] - $start}]
    # Of a server that has ended, stopServer has noted it.
    harness::noteWaits [serverPid $handle]
    foreach {file nanoseconds} [array get harness::waits] {
        if {[info exists before($file)]} { incr nanoseconds -$before($file) }
        incr ms [expr {-$nanoseconds / 1000000}]
    }
    return [expr {max($ms, 0)}]
}
proc harness::noteWaits {pid} {
    variable waits
    foreach file [concat [processFiles $pid task/*/schedstat] [processFiles [pid] task/*/schedstat]] {
        # The thread may end.
        catch { set waits($file) [lindex [readFile $file] 1] }
    }
}

# A server may listen at more than one port; startServer waits for the first.
proc waitForPort {number} {
    waitFor {![catch {close [socket 127.0.0.1 $number]}]}
}

proc readFile {name} {
    set channel [open $name r]
    fconfigure $channel -encoding utf-8
    set text [read $channel]
    close $channel
    return $text
}

proc writeFile {name content} {
    file mkdir [file dirname $name]
    set channel [open $name w]
    fconfigure $channel -translation binary
    puts -nonewline $channel $content
    close $channel
    return $name
}

proc compile {source args} {
    if {$harness::buildDirectory eq ""} {
        set harness::buildDirectory [string trim [exec mktemp -d --tmpdir nsd-build.XXXXXX]]
    }
    set file [file join $harness::buildDirectory [file rootname [file tail $source]]]
    if {![file exists $file]} {
        exec cc -O2 -D_GNU_SOURCE -fPIC -pthread -o $file [file join $harness::root tests lib $source] -ldl {*}$args 2>@1
    }
    return $file
}
proc harness::removeBuilt {} {
    variable buildDirectory
    if {$buildDirectory ne ""} { file delete -force $buildDirectory }
    set buildDirectory ""
}

proc startServer {args} {
    array set option {
        -config {} -serverconfig {} -init {} -pages {} -options {} -mode -f
        -expect running -check refuses -rawconfig {} -timeout 120000 -prefix {} -prepare {} -preload {}
    }
    array set option $args
    set root $harness::root
    set handle server[incr harness::nServers]
    file tempfile path nsd-test
    file delete $path
    set home $path-home
    file mkdir $home/logs $home/pages $home/modules $home/bin
    set port [freePort]
    # The sample configuration takes it from there.
    set ::env(PORT) $port
    set harness::servers($handle) [dict create home $home port $port]
    set harness::current $handle

    foreach {name content} $option(-pages) { writeFile $home/pages/$name $content }
    writeFile $home/modules/tcl/00-harness.tcl {
ns_register_proc POST /_harness {
    set script [encoding convertfrom utf-8 [ns_conn content -binary]]
    set code [catch {uplevel #0 $script} result options]
    set reply [list $code $result [expr {[dict exists $options -errorcode] ? [dict get $options -errorcode] : ""}]]
    ns_return -binary 200 application/octet-stream [encoding convertto utf-8 $reply]
} ;#
    }
    if {$option(-init) ne ""} {
        writeFile $home/modules/tcl/10-init.tcl [encoding convertto utf-8 $option(-init)]
    }
    set config $option(-rawconfig)
    if {$config eq ""} {
        set config [subst -nocommands {
set home $home
set port $port
ns_section ns/parameters
ns_param home $home
ns_param tcllibrary $root/tcl
ns_param shutdowntimeout 10
ns_section ns/servers
ns_param test "Test server"
ns_section ns/server/test
ns_param minthreads 2
ns_section ns/server/test/tcl
ns_param library $home/modules/tcl
ns_param initfile $root/nsd/init.tcl
ns_section ns/server/test/modules
ns_param nssock $root/nssock/nssock.so
ns_param nslog $root/nslog/nslog.so
ns_section ns/server/test/module/nssock
ns_param address 127.0.0.1
ns_param hostname 127.0.0.1
ns_param port $port
ns_section ns/server/test/module/nslog
ns_param file access.log
}]
        append config \n $option(-config) \n
    }
    writeFile $home/nsd.conf.tcl [encoding convertto utf-8 $config]

    # Only the server meets them, not what starts it.
    if {$option(-preload) ne ""} {
        set libraries [lmap file $option(-preload) { expr {[file extension $file] eq ".c" ? [compile $file -shared] : $file} }]
        lappend option(-prefix) env LD_PRELOAD=[join $libraries :]
    }
    set words [list {*}$option(-prefix) $root/nsd/nsd $option(-mode) -t $home/nsd.conf.tcl]
    if {[exec id -u] == 0} { lappend words -u root }
    lappend words {*}$option(-options)
    dict set harness::servers($handle) words $words
    uplevel 1 $option(-prepare)
    harness::launch $handle
    if {$option(-expect) eq "exit"} {
        waitFor {[file exists $home/status]} $option(-timeout)
        if {$option(-check) eq "refuses" && [catch {exec {*}$option(-prefix) $root/nsd/nsd -T -t $home/nsd.conf.tcl 2>@1} said] == 0} {
            error "a start fails, but the check says: $said"
        }
        return $handle
    }
    harness::waitUntilReady $handle $option(-timeout)
    return $handle
}

proc restartServer {{handle ""}} {
    if {$handle eq ""} { set handle $harness::current }
    waitFor {![isRunning $handle]}
    file delete [home $handle]/pid [home $handle]/status
    harness::launch $handle
    harness::waitUntilReady $handle 120000
}

proc harness::launch {handle} {
    variable servers
    set home [dict get $servers($handle) home]
    set command ""
    foreach word [dict get $servers($handle) words] { append command "'[string map {' '\\''} $word]' " }
    # The wrapper keeps the pid and the exit status for us.
    exec sh -c "cd '$home'; $command >console.log 2>&1 </dev/null & echo \$! >pid.tmp; mv pid.tmp pid; wait \$!; echo \$? >status.tmp; mv status.tmp status" >/dev/null 2>/dev/null &
    waitFor {[file exists $home/pid]}
    dict set servers($handle) pid [string trim [readFile $home/pid]]
}

proc harness::waitUntilReady {handle ms} {
    set home [home $handle]
    set end [expr {[clock milliseconds] + $ms}]
    while {1} {
        if {[file exists $home/status]} {
            error "server ended with status [string trim [readFile $home/status]]:\n[readFile $home/console.log]"
        }
        # A connection would not tell whose port it is.
        if {[isListening [serverPid $handle] [port $handle]]} {
            noteLogMemory $handle
            return
        }
        if {[clock milliseconds] > $end} { error "server does not listen after $ms ms:\n[consoleLog $handle]" }
        after 20
    }
}

# The log memory of a server that was killed, or that could not write everything,
# outlives it.  Its name is known for certain only while the process lives.
proc harness::noteLogMemory {handle} {
    variable logMemory
    foreach file [glob -nocomplain /dev/shm/nsd-*-[serverPid $handle]] { set logMemory($file) 1 }
}

# The logs of all servers, with their sizes now.
proc harness::logs {} {
    variable servers
    set sizes {}
    foreach handle [lsort -dictionary [array names servers]] {
        foreach name {console.log logs/nsd.log} {
            set file [home $handle]/$name
            if {[file exists $file]} { lappend sizes "$name of $handle" $file [file size $file] }
        }
    }
    return $sizes
}
proc harness::markLogs {} {
    variable nSeen
    foreach {- file size} [logs] { set nSeen($file) $size }
}
# What the servers have logged since the test began, or this was asked; or the end of it.
proc harness::unseenLogs {} {
    variable nSeen
    set text ""
    foreach {name file size} [logs] {
        set first [expr {[info exists nSeen($file)] ? $nSeen($file) : 0}]
        set nSeen($file) $size
        if {$size <= $first} continue
        set channel [open $file]
        seek $channel [expr {max($first, $size - 5000)}]
        append text "---- $name, the end of [expr {$size - $first}] new bytes:\n[read $channel]"
        close $channel
    }
    return $text
}

# What each thread of a process does, as the kernel sees it.
proc harness::threadsOf {pid} {
    set text ""
    foreach task [lsort -dictionary [processFiles $pid task/*]] {
        catch {
            append text "thread [file tail $task] [string trim [readFile $task/comm]]:\
                [regexp -inline -line {^State:.*$} [readFile $task/status]] in [readFile $task/wchan]\n"
        }
    }
    return $text
}

proc harness::get {handle key} {
    variable servers
    variable current
    if {$handle eq ""} { set handle $current }
    return [dict get $servers($handle) $key]
}
proc port {{handle ""}} { harness::get $handle port }
proc home {{handle ""}} { harness::get $handle home }
proc serverPid {{handle ""}} { harness::get $handle pid }
proc pageRoot {{handle ""}} { return [home $handle]/pages }
proc consoleLog {{handle ""}} { readFile [home $handle]/console.log }
proc serverLog {{handle ""}} {
    set file [home $handle]/logs/nsd.log
    # In the foreground the system log is the console.
    # While it is rolled there is none for a moment.
    if {![catch {readFile $file} text]} { return $text }
    consoleLog $handle
}
# Does the log hold this?  A thread may log after the client has its reply.
proc isLogged {pattern {handle ""}} {
    expr {![catch {waitFor {[regexp $pattern [serverLog $handle]]} 20000}]}
}
# Its complete lines: one that is being written may be seen in part.
proc accessLog {{handle ""}} {
    set text [readFile [home $handle]/logs/access.log]
    string range $text 0 [string last \n $text]
}
# What the server complained of.
proc complaints {{handle ""}} {
    regexp -all -inline -line {^.*(?:Error|Warning|Fatal|Bug|Alert): .*$} [consoleLog $handle]
}
# Also if nobody has waited for the process.  It may go while it is looked at.
proc hasEnded {pid} { expr {[catch {readFile /proc/$pid/stat} text] || [regexp {\) Z } $text]} }
proc isRunning {{handle ""}} { expr {![file exists [home $handle]/status]} }

proc stopServer {{handle ""} {signal TERM}} {
    if {$handle eq ""} { set handle $harness::current }
    set home [home $handle]
    if {[isRunning $handle]} {
        harness::noteLogMemory $handle
        catch {exec kill -$signal [serverPid $handle]}
        if {[catch {waitFor {[harness::noteWaits [serverPid $handle]; file exists $home/status]}} message]} {
            set threads [harness::threadsOf [serverPid $handle]]
            catch {exec kill -KILL [serverPid $handle]}
            waitFor {[file exists $home/status]}
            error "server does not end after SIG$signal: $message\n$threads"
        }
    }
    # Not all sanitizers report to the files that run.tcl names.
    set text [consoleLog $handle]
    if {[file exists $home/logs/nsd.log]} { append text \n[readFile $home/logs/nsd.log] }
    if {[regexp {(ThreadSanitizer|AddressSanitizer|LeakSanitizer|runtime error):} $text]} {
        puts "sanitizer report of $handle:\n[string range $text 0 20000]"
    }
    return [string trim [readFile $home/status]]
}

proc finish {} {
    foreach handle [lsort [array names harness::servers]] {
        if {[catch {stopServer $handle} message]} { puts "$handle: $message" }
        if {![info exists ::env(NSD_TEST_KEEP)]} { file delete -force [home $handle] }
    }
    if {![info exists ::env(NSD_TEST_KEEP)]} { file delete {*}[array names harness::logMemory] }
    harness::removeBuilt
    tcltest::cleanupTests
    exit 0
}

proc connect {{handle ""}} {
    set channel [socket 127.0.0.1 [port $handle]]
    fconfigure $channel -translation binary -buffering none -blocking 1
    return $channel
}
proc send {channel data} { puts -nonewline $channel $data; flush $channel }
proc disconnect {channel} { catch {close $channel} }

# What is read, with a limit in time so that a test fails instead of hanging.
proc harness::receive {channel n {ms 120000}} {
    fconfigure $channel -blocking 0
    set data ""
    set end [expr {[clock milliseconds] + $ms}]
    while {[string length $data] < $n} {
        append data [read $channel [expr {$n - [string length $data]}]]
        if {[string length $data] >= $n || [eof $channel]} break
        if {[clock milliseconds] > $end} {
            error "no data within $ms ms; so far [string length $data] of $n bytes: [string range $data 0 2000]\n[harness::unseenLogs]"
        }
        harness::waitReadable $channel 200
    }
    fconfigure $channel -blocking 1
    return $data
}
proc harness::waitReadable {channel ms} {
    set ::harness::ready 0
    fileevent $channel readable {set ::harness::ready 1}
    set timer [after $ms {set ::harness::ready 2}]
    vwait ::harness::ready
    after cancel $timer
    fileevent $channel readable {}
}
proc harness::receiveLine {channel} {
    set line ""
    while {1} {
        set c [receive $channel 1]
        if {$c eq ""} { return -code error "connection closed after '$line'" }
        append line $c
        if {$c eq "\n"} { return [string trimright $line \r\n] }
    }
}

# All data until the server closes.
proc readAll {channel {ms 120000}} { harness::receive $channel 1000000000 $ms }

# True when the server has closed (waits for it).
proc atEof {channel {ms 120000}} {
    expr {[harness::receive $channel 1 $ms] eq "" && [eof $channel]}
}

# One reply: dict of status, reason, version, headers (names in lower case, list of
# name value), body (chunks joined), chunks (list, if chunked).
proc readReply {channel {method GET}} {
    set line [harness::receiveLine $channel]
    if {![regexp {^HTTP/(\S+) (\d+) ?(.*)$} $line - version status reason]} {
        error "bad status line: $line"
    }
    set headers {}
    while {[set line [harness::receiveLine $channel]] ne ""} {
        if {![regexp {^([^:]+): ?(.*)$} $line - name value]} { error "bad header line: $line" }
        lappend headers [string tolower $name] $value
    }
    set reply [dict create status $status reason $reason version $version headers $headers]
    set body ""
    if {$method eq "HEAD" || $status in {100 204 304}} {
    } elseif {[dict exists $headers transfer-encoding]
            && [dict get $headers transfer-encoding] eq "chunked"} {
        set chunks {}
        while {1} {
            scan [harness::receiveLine $channel] %x n
            if {$n == 0} { harness::receiveLine $channel; break }
            set chunk [harness::receive $channel $n]
            lappend chunks $chunk
            append body $chunk
            harness::receive $channel 2
        }
        dict set reply chunks $chunks
    } elseif {[dict exists $headers content-length]} {
        set body [harness::receive $channel [dict get $headers content-length]]
    } else {
        set body [readAll $channel]
    }
    dict set reply body $body
    return $reply
}
proc replyBody {channel} { dict get [readReply $channel] body }

proc http {method url args} {
    array set option {-headers {} -body {} -version 1.1 -server {} -close 1}
    array set option $args
    set channel [connect $option(-server)]
    set request "$method $url HTTP/$option(-version)\r\n"
    if {![dict exists $option(-headers) Host]} {
        append request "Host: 127.0.0.1:[port $option(-server)]\r\n"
    }
    if {$option(-close)} { append request "Connection: close\r\n" }
    foreach {name value} $option(-headers) { append request "$name: $value\r\n" }
    if {$option(-body) ne "" || $method in {POST PUT}} {
        append request "Content-Length: [string length $option(-body)]\r\n"
    }
    append request "\r\n$option(-body)"
    try {
        send $channel $request
        return [readReply $channel $method]
    } finally {
        close $channel
    }
}
proc header {reply name} {
    set headers [dict get $reply headers]
    set name [string tolower $name]
    foreach {key value} $headers { if {$key eq $name} { return $value } }
    return ""
}

# Wait until the requests that have been answered have ended: figures and log records
# of a request may come after its reply.
proc waitForEnds {{handle ""}} {
    waitFor {[inServer {llength [lsearch -all -not -index 4 [ns_server active] /_harness]} $handle] == 0}
}

proc inServer {script {handle ""}} {
    set reply [http POST /_harness -body [encoding convertto utf-8 $script] -server $handle]
    if {[dict get $reply status] != 200} {
        error "inServer: status [dict get $reply status]: [dict get $reply body]"
    }
    lassign [encoding convertfrom utf-8 [dict get $reply body]] code result errorcode
    return -code $code -errorcode $errorcode $result
}
