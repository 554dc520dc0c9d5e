# SPDX-License-Identifier: MPL-2.0
# hosts.tcl --
#
#       Which virtual server has answered.  Two of them are in hosts.conf.

set hosts [lsort [ns_server hosts]]
if {$hosts eq ""} { set hosts "any host" }

welcome::reply "Two virtual hosts" "
<p>One process serves many sites. The <code>Host</code> field of a request leads to its server, which has pages,
threads, logs and a Tcl library of its own. The configuration <code>hosts.conf</code> has two of them.</p>
[welcome::table [list "You asked" [ns_set iget [ns_conn headers] host] "This is server" [ns_conn server] "It answers for" [join $hosts {, }]]]" \
    "For each server its pools of threads, and an interpreter in each thread." {drivers#host-map pools} "" hosts.conf
