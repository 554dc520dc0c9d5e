# SPDX-License-Identifier: MPL-2.0
# faults.tcl --
#
#       A server whose system calls fail on purpose, a load on it, and what must hold
#       all the while and afterwards.
#
#       fault::available                why no faults can be had here; "" if they can
#       fault::startSite ?option value ...?
#                                       -options, -prefix, -prepare, -config and
#                                       -preload as of startServer, besides its own
#       fault::use HANDLE               that server from now on
#       fault::run NAME SEED ?MS?       a scenario; the problems
#       fault::killed NAME SEED ?N?     the same with kills; the problems
#       fault::begin KIND RATE ...      so many calls of 65,536 fail from now on
#       fault::end                      none does
#       fault::counts                   KIND N ...: how many have failed so far
#       fault::seed NUMBER
#       fault::load MS ?PATHS?          a load for so long, while events are handled;
#                                       the outcomes: WORD {ID PATH STATUS} ...
#       fault::startLoad MS             the same in the background; for fault::endLoad
#       fault::problems LOAD ?option?   what does not hold after it; nothing if all does;
#                                       -killed 1: the process was killed meanwhile
#       fault::cleanup
#
#       A page of the site says by its name what the client may expect; see client.c.

source [file join [file dirname [info script]] .. lib server.tcl]

namespace eval fault {
    variable kinds {
        acceptLimit acceptAborted openLimit socketLimit mapMemory threadLimit
        writeSpace writeError writeShort readError readShort sendSmall
        interrupted syncSlow syncError renameError watchLimit nameError connectError
    }
    variable paths {
        small.html:1000 page.tcl:3000+ post.tcl:1000! audit.tcl:200+ page.adp:2000+
        big.bin:1048576 small.html:1000 log.tcl:200+ deep/er/page.tcl:3000+
        post.tcl:400000! large.tcl:1500000+ durable.tcl:100+ job.tcl:100+ audit.tcl:200+
        http.tcl:100+
    }
    variable round 0
    variable directory ""
}

proc fault::available {} {
    if {[auto_execok cc] eq ""} { return "no compiler" }
    if {![testConstraint exactMemory]} { return "a sanitizer wants to be loaded first" }
    return ""
}

# What all servers share, once for each process.
proc fault::prepare {} {
    variable directory
    if {$directory ne ""} return
    set directory [string trim [exec mktemp -d --tmpdir nsd-fault.XXXXXX]]
    file mkdir $directory/tmp
    exec openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=fault \
        -keyout $directory/key -out $directory/certificate 2>@1
    writeFile $directory/pem [readFile $directory/certificate][readFile $directory/key]
}

# What the pages of the site need.
variable fault::library {
    # What the client calls this request; of a POST, too.
    proc requestId {} {
        regexp {id=([0-9.]+)} [ns_conn query] - id
        return $id
    }
    # The page, or a refusal when the script fails.
    proc orRefuse {script} {
        if {[catch $script result]} {
            ns_return 503 text/plain $result
        } else {
            patternPage 100
        }
    }
    proc patternPage {length} {
        set text "[requestId]\n"
        ns_return -binary 200 text/plain $text[string range $::site::pattern [string length $text] $length-1]
    }
    namespace eval site { variable pattern [string repeat 0123456789abcdef 100000] }
    ns_job create faults 2
}

proc fault::pattern {n} { string range [string repeat 0123456789abcdef [expr {$n / 16 + 1}]] 0 $n-1 }
proc fault::pages {} {
    list small.html [pattern 1000] big.bin [pattern 1048576] {*}{
        page.tcl         {patternPage 3000}
        deep/er/page.tcl {patternPage 3000}
        large.tcl        {patternPage 1500000}
        audit.tcl        {ns_audit fault id [requestId]; patternPage 200}
        durable.tcl      {orRefuse {ns_audit -durable fault id [requestId]}}
        http.tcl         {
            orRefuse {
                set id [ns_http queue http://localhost:[ns_config ns/server/test/module/nssock port]/small.html]
                set status 0
                ns_http wait -timeout 20 -status status $id
                if {$status != 200} { error "status $status" }
            }
        }
        log.tcl          {ns_log notice "logged [requestId]."; patternPage 200}
        job.tcl          {orRefuse {ns_job wait faults [ns_job queue faults {expr {6 * 7}}]}}
        page.adp         {<% set text "[requestId]\n" %><%= $text[string range $::site::pattern [string length $text] 1999] %>}
        post.tcl         {
            set length [ns_set iget [ns_conn headers] content-length]
            if {[ns_conn contentfile] ne ""} {
                set channel [open [ns_conn contentfile] rb]
                set content [read $channel]
                close $channel
            } else {
                set content [ns_conn content]
            }
            if {$content ne [string range $::site::pattern 0 $length-1]} {
                ns_return 200 text/plain "bad body of [string length $content] bytes"
            } else {
                ns_return 200 text/plain "[requestId]\n"
            }
        }
    }
}

proc fault::configuration {tlsPort} {
    variable directory
    return "
        ns_section ns/parameters
        ns_param asynclogwriter true
        ns_param logmemory 16MiB
        ns_section ns/server/test
        ns_param minthreads 1
        ns_param maxthreads 8
        ns_param connsperthread 150
        ns_param enabletclpages true
        ns_section ns/server/test/adp
        ns_param map /*.adp
        ns_section ns/server/test/modules
        ns_param nsssl $harness::root/nsssl/nsssl.so
        ns_section ns/server/test/module/nsssl
        ns_param address 127.0.0.1
        ns_param port $tlsPort
        ns_param certificate $directory/pem
        foreach driver {nssock nsssl} {
            ns_section ns/server/test/module/\$driver
            ns_param writerthreads 1
            ns_param spoolerthreads 1
            ns_param maxinput 2MB
            ns_param maxupload 100kB
        }
        ns_section ns/server/test/module/nslog
        ns_param maxbackup 900
        ns_param rollonsignal true
        ns_section ns/fastpath
        ns_param mmap true
        foreach {sink streams settings} {
            lines system {file lines.log  maxbackup 900  compress gzip}
            audit audit  {file audit.log  maxbackup 900  sync batch}
            rows  audit  {file audit.db   type sqlite  buffertime 0.2}
        } {
            ns_section ns/logsinks
            ns_param \$sink {Records of faults}
            ns_section ns/logsink/\$sink
            ns_param streams \$streams
            foreach {name value} \$settings { ns_param \$name \$value }
        }
    "
}

proc fault::startSite {args} {
    variable directory
    variable library
    variable tlsPorts
    array set option [dict merge {-options {} -config {} -prefix {} -preload {} -prepare {}} $args]
    prepare
    writeControl
    set tlsPort [freePort]
    # Temporary files stay behind when the server is killed, or may not remove them.
    startServer -pages [pages] -init $library -options $option(-options) -prepare $option(-prepare) \
        -prefix [list {*}$option(-prefix) env NSD_FAULTS=$directory/control TMPDIR=$directory/tmp] \
        -preload [concat $option(-preload) $harness::root/tests/fault/faults.c] \
        -config [configuration $tlsPort]\n$option(-config)
    set tlsPorts($harness::current) $tlsPort
    noteLevels
    return $harness::current
}

# The commands below are about that server.
proc fault::use {handle} { set harness::current $handle }

# What is normal, when all threads and caches are there: each page has been answered.
# (Where libfaketime is loaded, waiting with a limit fails at once, so not all succeed.)
proc fault::noteLevels {} {
    variable base
    variable paths
    foreach path $paths { set unseen([lindex [split $path :] 0]) "" }
    waitFor {[array size unseen] == 0 || [sawAll [load 500] unseen]}
    set base($harness::current) [levels]
}
proc fault::sawAll {load arrayName} {
    upvar 1 $arrayName unseen
    foreach outcome {complete refused} {
        foreach request [dict get $load $outcome] { array unset unseen [lindex $request 1] }
    }
    return [expr {[array size unseen] == 0}]
}

proc fault::restartSite {} {
    restartServer
    noteLevels
}

#
# Faults.
#
proc fault::write {word value} {
    variable directory
    set channel [open $directory/control r+b]
    seek $channel [expr {4 * $word}]
    puts -nonewline $channel [binary format n $value]
    close $channel
}
proc fault::writeControl {} {
    variable kinds
    variable directory
    writeFile $directory/control [string repeat \0 [expr {4 + 8 * [llength $kinds]}]]
}
proc fault::seed {number} { write 0 $number }
proc fault::begin {args} {
    variable kinds
    foreach {kind rate} $args {
        set index [lsearch -exact $kinds $kind]
        if {$index < 0} { error "no such fault: $kind" }
        write [expr {1 + 2 * $index}] $rate
    }
}
proc fault::end {} {
    variable kinds
    foreach kind $kinds { begin $kind 0 }
}
proc fault::counts {} {
    variable kinds
    variable directory
    set channel [open $directory/control rb]
    binary scan [read $channel] n* words
    close $channel
    set counts {}
    foreach kind $kinds {- n} [lrange $words 1 end] { if {$n > 0} { lappend counts $kind $n } }
    return $counts
}

#
# Load.
#
proc fault::startLoad {ms {chosen ""} {connections 8}} {
    variable paths
    variable round
    variable tlsPorts
    if {$chosen eq ""} { set chosen $paths }
    set ports [port]:$tlsPorts($harness::current)
    return [open "|[list [compile client.c -lssl -lcrypto] $ports [incr round] $connections $ms {*}$chosen]"]
}
proc fault::endLoad {channel} {
    foreach outcome {complete refused wrong cut none connect} { dict set load $outcome {} }
    foreach {- outcome id path status} \
            [regexp -all -inline -line {^(\S+) (\S+) (\S+) (\S+)$} [read $channel]] {
        dict lappend load $outcome [list $id $path $status]
    }
    close $channel
    return $load
}
proc fault::load {ms {chosen ""} {connections 8}} { endLoad [startLoad $ms $chosen $connections] }

# How many there are of each outcome, to be shown.
proc fault::summary {load} {
    set summary {}
    dict for {outcome list} $load {
        if {[llength $list] > 0} { lappend summary $outcome [llength $list] }
    }
    return $summary
}

#
# What must hold.
#
proc fault::levels {} {
    set status [readFile /proc/[serverPid]/status]
    regexp {VmRSS:\s+(\d+)} $status - rss
    regexp {Threads:\s+(\d+)} $status - threads
    return [dict create descriptors [llength [processFiles [serverPid] fd/*]] threads $threads rss $rss]
}

proc fault::problems {loads args} {
    array set option [dict merge {-killed 0 -cut 0} $args]
    end
    set problems {}
    if {![isRunning]} {
        return [list "the process has ended: [string range [consoleLog] end-3000 end]"]
    }
    foreach load $loads {
        foreach {outcome may} [list wrong 0 cut [expr {$option(-killed) || $option(-cut)}]] {
            set list [dict get $load $outcome]
            if {[llength $list] > 0 && !$may} {
                lappend problems "[llength $list] $outcome: [lrange $list 0 4]"
            }
        }
        foreach outcome {refused} {
            foreach request [dict get $load $outcome] {
                if {[lindex $request 2] ni {500 503 507}} { lappend problems "refused: $request" }
            }
        }
    }
    # Without faults all goes well at once.
    set after [load 300]
    if {[dict size [summary $after]] != 2 || [llength [dict get $after complete]] == 0} {
        foreach outcome {refused wrong cut none connect} {
            set list [dict get $after $outcome]
            if {[llength $list] > 0} { lappend problems "afterwards [llength $list] $outcome: [lrange $list 0 4]" }
        }
    }
    lappend loads $after
    lappend problems {*}[logProblems $loads] {*}[levelProblems]
    return $problems
}

# Every record that was handed over is in its log, exactly once.
proc fault::logProblems {loads} {
    set problems {}
    if {[catch {waitForEnds} message]} { lappend problems "requests do not end: $message" }
    # A target that failed is tried again in a moment.
    if {[catch {waitFor {![catch {inServer {ns_logsink flush}}]} 30000}]} {
        lappend problems "flush: [catch {inServer {ns_logsink flush}} message; set message]"
    }
    if {[catch {
        inServer {
            set all {}
            foreach sink [ns_logsink list] { lappend all $sink [ns_logsink stats $sink] }
            set all
        }
    } all]} {
        lappend problems "no statistics: $all\n[stacks]"
        set all {}
    }
    foreach {sink stats} $all {
        set sum 0
        set dropped 0
        foreach {key value} $stats {
            if {$key in {delivered ignored pending} || [string match dropped* $key]} { incr sum $value }
            if {[string match dropped* $key]} { incr dropped $value }
        }
        if {$sum != [dict get $stats accepted]} { lappend problems "ledger of $sink: $stats" }
        if {$dropped > 0} { lappend problems "$sink dropped: $stats" }
    }
    foreach {name wanted text expression} [list \
        access {} [textOf access.log] {\?id=([0-9.]+) } \
        system log.tcl [textOf lines.log] {logged ([0-9.]+)\.} \
        audit {audit.tcl durable.tcl} [textOf audit.log] {"id":"([0-9.]+)"} \
        rows {audit.tcl durable.tcl} [exec sqlite3 [home]/logs/audit.db {SELECT * FROM log}] {"id":"([0-9.]+)"} \
    ] {
        array unset seen
        foreach {- id} [regexp -all -inline $expression $text] { incr seen($id) }
        set missing {}
        set twice {}
        foreach load $loads {
            foreach request [dict get $load complete] {
                lassign $request id path
                if {($wanted eq "" || $path in $wanted) && ![info exists seen($id)]} { lappend missing $id }
            }
        }
        foreach {id n} [array get seen] { if {$n > 1} { lappend twice $id } }
        if {$missing ne ""} { lappend problems "$name: [llength $missing] lines missing: [lrange $missing 0 4]" }
        if {$twice ne ""} { lappend problems "$name: [llength $twice] lines double: [lrange $twice 0 4]" }
    }
    return $problems
}

# Where the threads are that do not answer.
proc fault::stacks {} {
    set gdb [list gdb -p [serverPid] -batch -nx -ex {thread apply all bt 12}]
    return [expr {[catch {exec {*}$gdb 2>@1} text] ? "$text\n[harness::threadsOf [serverPid]]" : $text}]
}

# All of a log, with its backups.  A backup is there in full until its compressed form
# is complete, and may have gone since it was listed.
proc fault::textOf {log} {
    set text ""
    foreach file [glob -nocomplain [home]/logs/$log [home]/logs/$log.*] {
        if {[file extension $file] eq ".gz"} {
            if {![file exists [file rootname $file]]} { append text [exec zcat $file] }
        } elseif {[catch {append text [readFile $file]}]} {
            append text [exec zcat $file.gz]
        }
    }
    return $text
}

# Threads and descriptors go back to what they were; memory stays in bounds.
proc fault::levelProblems {} {
    variable base
    foreach {key slack} {descriptors 20 threads 10 rss 100000} {
        set before [dict get $base($harness::current) $key]
        set limit [expr {$before + $slack}]
        if {[catch {waitFor {[dict get [levels] $key] <= $limit} 60000}]} {
            lappend problems "$key: $before before, [dict get [levels] $key] now"
        }
    }
    return [expr {[info exists problems] ? $problems : {}}]
}

proc fault::cleanup {} {
    variable directory
    if {$directory ne ""} { file delete -force $directory }
    set directory ""
    harness::removeBuilt
}

#
# What can be tried.  Each scenario is a list of faults, for a while each.
#
namespace eval fault {
    variable scenarios {
        descriptors  {{acceptLimit 3000 openLimit 3000 socketLimit 20000} {openLimit 65536 acceptLimit 30000}}
        connections  {{acceptAborted 6000 sendSmall 20000 interrupted 2000 readShort 20000} {nameError 40000 connectError 20000 sendSmall 65536}}
        threads      {{threadLimit 40000 mapMemory 20000} {threadLimit 65536}}
        fulldisk     {{writeSpace 8000 writeShort 20000} {writeSpace 65536}}
        baddisk      {{writeError 5000 syncError 20000 syncSlow 20000 readError 200}}
        shortwrites  {{writeShort 30000 interrupted 2000}}
        names        {{renameError 30000 openLimit 2000} {renameError 65536}}
        watches      {{watchLimit 20000 socketLimit 2000}}
        everything   {
            {acceptLimit 300 acceptAborted 300 openLimit 300 socketLimit 300 mapMemory 300 threadLimit 3000
             writeSpace 500 writeError 500 writeShort 3000 readShort 3000 sendSmall 3000 interrupted 300
             syncSlow 3000 syncError 300 renameError 3000 watchLimit 300 nameError 3000 connectError 3000}
        }
    }
    # A reply that has begun breaks off when its file cannot be read, or the rest of it
    # would have to wait for a socket that cannot be watched.
    variable mayCut {baddisk watches everything}
}

# The problems that a scenario shows, each of its steps lasting MS; logs are rolled
# meanwhile.
proc fault::run {name seed {ms 1200}} {
    variable scenarios
    variable mayCut
    fault::seed $seed
    set loads {}
    foreach faults [dict get $scenarios $name] {
        end
        set channel [startLoad $ms]
        begin {*}$faults
        # The rolls may meet faults, too, and the compression of what they leave.
        foreach way {hangup command hangup} {
            after [expr {$ms / 5}]
            roll $way
        }
        lappend loads [endLoad $channel]
    }
    return [problems $loads -cut [expr {$name in $mayCut}]]
}

proc fault::roll {way} {
    if {$way eq "hangup"} {
        catch {exec kill -HUP [serverPid]}
    } else {
        catch {inServer {foreach sink [ns_logsink list] { catch {ns_logsink roll $sink} }}}
    }
}

# A process that is killed at some moment of a scenario, maybe while it rolls its logs,
# and started anew; also in the midst of its start, so that the next one recovers what
# two left.
proc fault::killed {name seed {kills 3}} {
    variable scenarios
    set loads {}
    expr {srand($seed)}
    fault::seed $seed
    for {set i 0} {$i < $kills} {incr i} {
        set channel [startLoad 0]
        begin {*}[lindex [dict get $scenarios $name] 0]
        after [expr {int(rand() * 300)}]
        if {rand() < 0.5} {
            roll hangup
            after [expr {int(rand() * 10)}]
        }
        catch {exec kill -KILL [serverPid]}
        lappend loads [endLoad $channel]
        waitFor {![isRunning]}
        if {rand() < 0.5} { end }
        # A start may be killed at any moment, too, or end by itself among faults.
        file delete [home]/pid [home]/status
        harness::launch $harness::current
        after [expr {int(rand() * 60)}]
        catch {exec kill -KILL [serverPid]}
        waitFor {![isRunning]}
        end
        restartSite
    }
    return [problems $loads -killed 1]
}
