# SPDX-License-Identifier: MPL-2.0
# bench.tcl --
#
#       What the programs in bench/ share: options, a server of their own, programs
#       in C, and the table they print.
#
#       Every program prints lines "| what | nsd | peer | ratio | goal |"; other lines
#       are remarks.

set root [file dirname [file dirname [file dirname [file normalize [info script]]]]]
source $root/bench/lib/peers.tcl

namespace eval bench {
    variable work [file join /tmp nsd-bench-[pid]]
    variable servers {}         ;# Name: {pid port}
}

# Options of the command line, and their defaults.
proc bench::options {defaults} {
    global argv
    set options [dict merge $defaults $argv]
    foreach name [dict keys $options] {
        if {![dict exists $defaults $name]} {
            puts stderr "unknown option $name: use [join [dict keys $defaults] { N, }] N"
            exit 1
        }
    }
    return $options
}

proc bench::machine {} {
    puts "machine: [exec nproc] cores, Linux [exec uname -r],\
        [clock format [clock seconds] -format %Y-%m-%d]"
}

proc bench::head {} {
    puts "| what | nsd | peer | ratio | goal |"
    puts "|---|---|---|---|---|"
}

proc bench::row {what figure {peer ""} {ratio ""} {goal ""}} {
    if {[string is double -strict $ratio]} { set ratio [format %.2f $ratio] }
    puts "| $what | $figure | $peer | $ratio | $goal |"
    flush stdout
}

# The path of a program whose source is in bench/.
proc bench::build {name} {
    set program $::root/obj/bench/$name
    exec make -s -C $::root obj/bench/$name 2>@stderr
    return $program
}

# Start a server.  Settings: parameters of the pool, of the process, sections to add,
# whether there is an access log, and words in front of the command.
proc bench::start {name args} {
    variable work
    variable servers
    set settings [dict merge {
        pool {minthreads 2 maxthreads 4} process {asynclogwriter true} driver {}
        accesslog true extra "" pages "" scripts "" prefix "" fastpath ""
    } $args]
    set dir $work/$name
    set port [freePort]
    file mkdir $dir/logs $dir/pages $dir/tcl
    dict for {page size} [dict get $settings pages] {
        peers::write $dir/pages/$page [string repeat x $size]
    }
    peers::write $dir/tcl/bench.tcl "[dict get $settings scripts]
ns_register_proc GET /eval { ns_return 200 text/plain \[eval \[ns_queryget script\]\] }
ns_register_proc GET /hello { ns_return 200 text/plain \"hello world\\n\" }
"
    peers::write $dir/nsd.tcl [bench::Config $dir $port $settings]
    set user {}
    if {[exec id -u] == 0} { set user {-u root} }
    set pid [peers::run {*}[dict get $settings prefix] $::root/nsd/nsd -i {*}$user -t $dir/nsd.tcl]
    dict set servers $name [list [lindex $pid end] $port]
    peers::waitForPort $port
    return $port
}

proc bench::Config {dir port settings} {
    set modules [list nssock $::root/nssock/nssock.so]
    if {[dict get $settings accesslog]} { lappend modules nslog $::root/nslog/nslog.so }
    set sections [list \
        ns/parameters [dict merge [list home $dir tcllibrary $::root/tcl] \
                           [dict get $settings process]] \
        ns/servers {bench Benchmark} \
        ns/fastpath [dict merge {cache true cachemaxsize 50000000 cachemaxentry 2000000} \
                         [dict get $settings fastpath]] \
        ns/server/bench [dict merge {maxconnections 1000 connsperthread 0} \
                             [dict get $settings pool]] \
        ns/server/bench/tcl [list library $dir/tcl initfile $::root/nsd/init.tcl] \
        ns/server/bench/modules $modules \
        ns/server/bench/module/nssock [dict merge \
            [list address 127.0.0.1 hostname 127.0.0.1 port $port] \
            [dict get $settings driver]] \
        ns/server/bench/module/nslog {file access.log}]
    set text ""
    foreach {section parameters} $sections {
        append text [list ns_section $section] \n
        dict for {name value} $parameters { append text [list ns_param $name $value] \n }
    }
    return $text[dict get $settings extra]\n
}

proc bench::pid {name} { variable servers; lindex [dict get $servers $name] 0 }

# Stop one server and wait until it is gone.
proc bench::stop {name} {
    set pid [bench::pid $name]
    catch {exec kill -TERM $pid}
    for {set i 0} {$i < 1000 && [file exists /proc/$pid/fd]
                   && ![catch {exec kill -0 $pid}]} {incr i} { after 10 }
}

# The result of a script in a server.
proc bench::eval {port script} {
    set sock [socket 127.0.0.1 $port]
    fconfigure $sock -translation binary
    set query [binary encode hex $script]
    regsub -all {..} $query {%\0} query
    puts -nonewline $sock "GET /eval?script=$query HTTP/1.0\r\n\r\n"
    flush $sock
    set reply [read $sock]
    close $sock
    if {![string match "HTTP/1.? 200 *" $reply]} { error $reply }
    string range $reply [string first \r\n\r\n $reply]+4 end
}

# Requests per second by wrk.
proc bench::wrk {port path connections seconds} {
    set out [exec wrk -t1 -c$connections -d${seconds}s http://127.0.0.1:$port$path 2>@1]
    if {![regexp {Requests/sec:\s+([\d.]+)} $out - rate]} { error "wrk: $out" }
    if {[regexp {Non-2xx.*|Socket errors.*} $out errors]} { puts "($errors)" }
    return $rate
}

# A program that says "ready" and then holds what it made until it is told to stop.
proc bench::hold {args} {
    set channel [open |[concat $args [list 2>@stderr]] r+]
    if {[gets $channel] ne "ready"} { error "[join $args]: not ready" }
    return $channel
}

proc bench::median {list} { lindex [lsort -real $list] [expr {[llength $list] / 2}] }

proc bench::end {} {
    variable work
    variable servers
    foreach name [dict keys $servers] { bench::stop $name }
    if {[llength $peers::pids] > 0} { peers::stopAll }
    file delete -force $work
}

# Run the program's body; clean up in any case.
proc bench::main {script} {
    set failed [catch {uplevel #0 $script} message options]
    bench::end
    if {$failed} {
        puts stderr [dict get $options -errorinfo]
        exit 1
    }
}
