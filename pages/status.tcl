# SPDX-License-Identifier: MPL-2.0
# status.tcl --
#
#       The figures of the start page, as JSON, for clients on this machine alone.

if {![_ns_islocal]} {
    ns_returnforbidden
    return
}
nsv_incr welcome own
ns_set update [ns_conn outputheaders] Cache-Control no-store
ns_return 200 application/json [welcome::json [welcome::status]]
