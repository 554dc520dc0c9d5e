# SPDX-License-Identifier: MPL-2.0
# port.tcl --
#
#       Ports for servers that are started, such that processes that run at the same
#       time never get the same one.
#
#       freePort                a port at which nothing listens
#       isListening PID PORT    true when the process itself listens at the port
#
#       Each port has a partner, and who holds the partner has the port: freePort
#       listens there until the process ends, in whatever way.  Both lie below the
#       ports that the system gives to clients and to who asks for any port, so
#       that nobody else comes upon them by chance.

namespace eval port {
    variable first 20000
    variable firstPartner 10000
    variable n 10000
}

proc freePort {} {
    set start [expr {int(rand() * $port::n)}]
    for {set i 0} {$i < $port::n} {incr i} {
        set offset [expr {($start + $i) % $port::n}]
        if {[catch {port::listen 127.0.0.1 [expr {$port::firstPartner + $offset}]} partner]} continue
        set number [expr {$port::first + $offset}]
        if {![catch {close [port::listen 0.0.0.0 $number]}]} { return $number }
        close $partner
    }
    error "no free port"
}

proc port::listen {address number} {
    socket -server {apply {{channel args} {close $channel}}} -myaddr $address $number
}

# What the kernel tells of a process; nothing of one that has ended meanwhile.
proc processFiles {pid pattern} {
    if {[catch {glob -nocomplain /proc/$pid/$pattern} files]} { return {} }
    return $files
}

proc isListening {pid number} {
    set sockets [port::listeners $number]
    foreach file [processFiles $pid fd/*] {
        # It may be closed by now.
        if {![catch {file readlink $file} target] && $target in $sockets} { return 1 }
    }
    return 0
}

# The sockets that listen at a port, named as in /proc/PID/fd.
proc port::listeners {number} {
    set sockets {}
    set pattern [format {^ *\d+: [0-9A-F]+:%04X [0-9A-F]+:[0-9A-F]+ 0A(?: +\S+){5} +(\d+)} $number]
    foreach file {/proc/net/tcp /proc/net/tcp6} {
        if {![file exists $file]} continue
        set channel [open $file]
        foreach {- inode} [regexp -all -inline -line $pattern [read $channel]] {
            lappend sockets socket:\[$inode\]
        }
        close $channel
    }
    return $sockets
}
