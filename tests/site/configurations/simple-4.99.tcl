# SPDX-License-Identifier: MPL-2.0
# The least that serves pages: one server, one driver, an access log.

set home /usr/local/ns

ns_section "ns/parameters"
ns_param   home        $home
ns_param   serverlog   error.log
ns_param   pidfile     logs/nsd.pid

ns_section "ns/servers"
ns_param   default     "The only one"

ns_section "ns/server/default/modules"
ns_param   nssock      nssock.so
ns_param   nslog       nslog.so

ns_section "ns/server/default/fastpath"
ns_param   pagedir     pages

ns_section "ns/server/default/adp"
ns_param   map         /*.adp

ns_section "ns/server/default/module/nssock"
ns_param   address     127.0.0.1
ns_param   hostname    localhost
ns_param   port        8080
