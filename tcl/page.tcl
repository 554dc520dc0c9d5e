# SPDX-License-Identifier: MPL-2.0
# page.tcl --
#
#       Simple Tcl pages: a file below the page root is the body of a procedure, which
#       ns_sourceproc runs.

# ns_tcl_abort --
#
#       End the page without an error.

proc ns_tcl_abort {} {
    return -code error -errorcode NS_TCL_ABORT "page aborted"
}

# The script of the error page sees the message in errmsg.

proc _ns_showerror {page errmsg} {
    source $page
}

if {[ns_config -bool ns/server/[ns_info server] enabletclpages off]} {
    foreach method {GET HEAD POST} {
        ns_register_proc $method /*.tcl ns_sourceproc
    }
}
