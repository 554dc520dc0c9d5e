# SPDX-License-Identifier: MPL-2.0
# nsd-web.tcl --
#
#       The server's configuration: one site, for this machine alone at first.
#       /usr/share/nsd-web/sample-config.tcl shows every parameter; what is added as
#       /etc/nsd-web/conf.d/NAME.tcl is read at the end.  `nsd-web -T` checks it all,
#       and `systemctl reload nsd-web` lets the running server take it over.

# {0.0.0.0 ::} opens the server to the network.
set address   127.0.0.1
set port      8080

# The site's pages and its own Tcl library.  If there is no page yet at the start, the
# welcome pages are shown until the next one: nsd-web ctl restart.
set pages     /var/www/nsd-web/pages
set library   /var/www/nsd-web/tcl
if {[glob -nocomplain $pages/*] eq ""} { set pages /usr/share/nsd-web/welcome }

ns_section ns/parameters
    ns_param home            /var/lib/nsd-web
    ns_param bindir          /usr/lib/nsd-web/bin
    ns_param tcllibrary      /usr/share/nsd-web/tcl
    ns_param logdir          /var/log/nsd-web
    ns_param serverlog       nsd-web.log
    ns_param logroll         false      ;# logrotate does that.
    ns_param pidfile         /run/nsd-web/nsd-web.pid
    ns_param asynclogwriter  true

ns_section ns/encodings
    ns_param .adp            utf-8

ns_section ns/servers
    ns_param main            "Web server"

ns_section ns/server/main/fastpath
    ns_param pagedir         $pages
    ns_param directoryfile   {index.adp index.tcl index.html}

ns_section ns/server/main/adp
    ns_param map             /*.adp
    ns_param enabletclpages  true

ns_section ns/server/main/tcl
    ns_param initfile        /usr/share/nsd-web/init.tcl
    ns_param library         $library

ns_section ns/server/main/modules
    ns_param nssock          nssock.so
    ns_param nslog           nslog.so
    ns_param welcome         tcl

ns_section ns/server/main/module/nssock
    ns_param address         $address
    ns_param port            $port

ns_section ns/server/main/module/nslog
    ns_param rolllog         false      ;# logrotate does that.

# The manual, of the package nsd-web-doc.
ns_section ns/server/main/module/welcome
    ns_param doc             /usr/share/doc/nsd-web/manual

foreach file [lsort [glob -nocomplain /etc/nsd-web/conf.d/*.tcl]] { source $file }
