# SPDX-License-Identifier: MPL-2.0
# nsd.tcl --
#
#       The configuration of all machines.  The machine's name is the only difference, and
#       the file gets it from the system; the trial on one machine names it in the
#       environment, as cluster_machine.

ns_configure_variables -silent true "cluster_" {
    machine    {[lindex [split [info hostname] .] 0]}
    home       {/srv/cluster/$machine}
    site       /srv/cluster/site
    port       8080
    database   {host=127.0.0.1 port=8432 user=site dbname=site}
    brokers    127.0.0.1:8092
}

# Where the balancer finds each machine; haproxy.cfg has the same table.
array set addresses {
    one    127.0.1.1
    two    127.0.1.2
    three  127.0.1.3
}
if {![info exists addresses($machine)]} {
    error "this machine is \"$machine\": should be one of [lsort [array names addresses]]"
}

# Installed, or in the tree where it was built.
set top [file dirname [file dirname [file readlink /proc/self/exe]]]
set isInstalled [expr {![file exists $top/nssock/nssock.so]}]
proc object {module} {
    expr {$::isInstalled ? "$module.so" : "$::top/$module/$module.so"}
}

ns_section ns/parameters
    ns_param home            $home
    ns_param tcllibrary      $top/tcl
    ns_param asynclogwriter  true

ns_section ns/servers
    ns_param main            "The board"

ns_section ns/server/main
    ns_param minthreads      4
    ns_param maxthreads      10
   # An id for each request, in its reply and in all of its log records.
    ns_param requestid       X-Request-Id

ns_section ns/server/main/fastpath
    ns_param pagedir         $site/pages
    ns_param directoryfile   index.adp

ns_section ns/server/main/adp
    ns_param map             /*.adp

ns_section ns/server/main/tcl
    ns_param initfile        $top/[expr {$isInstalled ? "bin" : "nsd"}]/init.tcl
    ns_param library         $site/tcl

ns_section ns/server/main/modules
    ns_param nssock          [object nssock]
    ns_param nslog           [object nslog]
    ns_param nsdb            [object nsdb]

# --- The balancer in front

ns_section ns/server/main/module/nssock
    ns_param address         $addresses($machine)
    ns_param port            $port
   # Each connection begins with the name of its visitor.  Nobody but the balancer may
   # reach this port: who does can name any visitor.
    ns_param proxyprotocol   required
   # 200, or 503 while the machine starts, drains or stops.
    ns_param readypath       /ready
   # Longer than the balancer keeps a connection without a request.
    ns_param keepwait        30s
   # Who waits while the program is executed again.
    ns_param backlog         1000

# --- Data, and what is kept for each browser

ns_section ns/db/drivers
    ns_param pg              [object nsdbpg]

ns_section ns/db/pools
    ns_param data            "What the site keeps"
    ns_param sessions        "What it keeps for each browser"

# Machines times connections of both: PostgreSQL has to allow that many.
foreach pool {data sessions} {
    ns_section ns/db/pool/$pool
        ns_param driver      pg
        ns_param datasource  $database
        ns_param connections 10
}

ns_section ns/server/main/db
    ns_param pools           data,sessions
    ns_param defaultpool     data

ns_section ns/server/main/sessions
    ns_param store           database
    ns_param pool            sessions

# --- Logs: files on each machine, and one topic with those of all

ns_section ns/server/main/module/nslog
    ns_param file            access.log

ns_section ns/logsinks
    ns_param logs            "the logs of all machines"

ns_section ns/logsink/logs
    ns_param type            kafka
    ns_param brokers         $brokers
    ns_param topic           logs
    ns_param streams         {system access}
    ns_param format          json
    ns_param fields          [list machine $machine]
   # Records of one machine stay in order.
    ns_param key             server
    ns_param buffertime      1s
    ns_param settings        {compression.codec lz4}

# What the library asks for.
ns_section site
    ns_param machine         $machine
