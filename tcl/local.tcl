# SPDX-License-Identifier: MPL-2.0
# local.tcl --
#
#       Pages for clients on the server's own machine.

# _ns_islocal --
#
#       Whether the request comes from this machine and from nowhere else.  The address
#       alone does not tell: a proxy here passes on the requests of others, and a browser
#       here can be made to ask under a name that belongs to somebody else's page.  So no
#       field may speak of a proxy, nor may the driver be one for proxies alone (the PROXY
#       protocol), the host asked for has to be this machine, and the protocol newer than
#       what proxies use when nobody has configured it.

proc _ns_islocal {} {
    if {[ns_conn version] < 1.1} { return 0 }
    if {[dict get [ns_conn details] proxied]} { return 0 }
    set headers [ns_conn headers]
    foreach {name -} [ns_set array $headers] {
        if {[regexp -nocase {^(x-forwarded(-.*)?|forwarded|x-real-ip|via|x-(original|client|cluster-client)-.*|true-client-ip|cf-.*|client-ip)$} $name]} {
            return 0
        }
    }
    set host [string tolower [ns_set iget $headers Host]]
    if {![regexp {^(\[[0-9a-f:.]+\]|[^:]+)(:\d*)?$} $host - host]} { return 0 }
    set isLoopback [expr {[regexp {^(.+\.)?localhost\.?$|^127(\.\d{1,3}){3}$} $host]
                          || $host in {[::1] [::ffff:127.0.0.1]}}]
    return [expr {$isLoopback && [regexp {^(::ffff:)?127(\.\d{1,3}){3}$|^::1$} [ns_conn peeraddr -source direct]]}]
}
