# SPDX-License-Identifier: MPL-2.0
# nsd.tcl --
#
#       The configuration of the container image: one site in /site, access log and
#       audit records on standard output, the system log on standard error.
#
#       Of the environment: PORT (8080), NSD_LOG (native, or json), NSD_THREADS (10
#       threads that serve requests), NSD_LOGMEMORY (8MB), NSD_SHUTDOWN (8s).

proc setting {name default} { expr {[info exists ::env($name)] ? $::env($name) : $default} }
set pages [expr {[file isdirectory /site/pages] ? "/site/pages" : "/usr/local/ns/pages"}]
set library [expr {[file isdirectory /site/tcl] ? "/site/tcl" : "/usr/local/ns/modules/tcl"}]

ns_section ns/parameters
    ns_param home            /var/lib/nsd
    ns_param bindir          /usr/local/ns/bin
    ns_param tcllibrary      /usr/local/ns/tcl
    ns_param pidfile         /run/nsd/nsd.pid
    ns_param asynclogwriter  true
    ns_param logmemory       [setting NSD_LOGMEMORY 8MB]
    # Engines kill what has not ended 10 seconds after SIGTERM.
    ns_param shutdowntimeout [setting NSD_SHUTDOWN 8s]
    # What a killed server had not written yet: a volume in memory that outlives the
    # container lets the next one write it.
    ns_param logringdir      /run/nsd

ns_section ns/logsinks
    ns_param console         "standard output"
ns_section ns/logsink/console
    ns_param type            stdout
    ns_param streams         [expr {[setting NSD_LOG native] eq "json" ? "system access audit" : "access audit"}]
    ns_param format          [setting NSD_LOG native]

ns_section ns/encodings
    ns_param .adp            utf-8

ns_section ns/servers
    ns_param main            "Web server"

ns_section ns/server/main
    ns_param maxthreads      [setting NSD_THREADS 10]

ns_section ns/server/main/fastpath
    ns_param pagedir         $pages
    ns_param directoryfile   {index.adp index.tcl index.html}

ns_section ns/server/main/adp
    ns_param map             /*.adp
    ns_param enabletclpages  true

ns_section ns/server/main/tcl
    ns_param initfile        /usr/local/ns/bin/init.tcl
    ns_param library         $library

ns_section ns/server/main/modules
    ns_param nssock          nssock.so
    ns_param nslog           nslog.so
    ns_param welcome         tcl

# Containers are reached from outside.
ns_section ns/server/main/module/nssock
    ns_param address         0.0.0.0
    ns_param port            [setting PORT 8080]
    ns_param livepath        /live
    ns_param readypath       /ready

ns_section ns/server/main/module/nslog
    ns_param file            /dev/null   ;# The sink above has it.
    ns_param rolllog         false

ns_section ns/server/main/module/welcome
    ns_param doc             /usr/local/ns/doc

if {[file exists /site/nsd.tcl]} { source /site/nsd.tcl }
