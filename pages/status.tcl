# status.tcl --
#
#       The figures of the start page, as JSON.

ns_set update [ns_conn outputheaders] Cache-Control no-store
ns_return 200 application/json [welcome::json [welcome::status]]
