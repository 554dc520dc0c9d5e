# page.tcl --
#
#       Simple Tcl pages: a file below the page root is the body of a proc.

namespace eval _ns_pages {
    # By file: its state, the name of the proc, and the text until the state is sure
    # to tell of later changes.
    variable known
    array set known {}
    variable nProcs 0
}

# ns_sourceproc ?ignored? --
#
#       Answer the request with the page of its URL.

proc ns_sourceproc {args} {
    set file [ns_url2file [ns_conn url]]
    if {![file isfile $file]} {
        ns_returnnotfound
        return
    }
    try {
        _ns_pages::Run $file
    } trap NS_TCL_ABORT {} {
        # The page has ended itself.
    } on error {message options} {
        _ns_pages::Forget $file
        set page [ns_config ns/server/[ns_info server]/tcl errorpage ""]
        if {$page eq ""} {
            return -options $options $message
        }
        _ns_pages::ShowError $page $message
    }
}

# ns_tcl_abort --
#
#       End the page without an error.

proc ns_tcl_abort {} {
    return -code error -errorcode NS_TCL_ABORT "page aborted"
}

proc _ns_pages::Run {file} {
    variable known
    variable nProcs
    lassign [_ns_filestate $file] state isSettled
    set isKnown [expr {[info exists known($file)] && [lindex $known($file) 0] eq $state}]
    if {!$isKnown || [llength $known($file)] == 3} {
        set channel [open $file]
        try {
            fconfigure $channel -encoding utf-8
            set text [read $channel]
        } finally {
            close $channel
        }
        if {!$isKnown || [lindex $known($file) 2] ne $text} {
            Forget $file
            proc ::_ns_pages::page[incr nProcs] {} $text
            set known($file) [list $state ::_ns_pages::page$nProcs $text]
        }
        if {$isSettled} { set known($file) [lrange $known($file) 0 1] }
    }
    [lindex $known($file) 1]
}

proc _ns_pages::Forget {file} {
    variable known
    if {[info exists known($file)]} {
        rename [lindex $known($file) 1] {}
        unset known($file)
    }
}

# The script of the error page sees the message in errmsg.

proc _ns_pages::ShowError {page errmsg} {
    source $page
}

if {[ns_config -bool ns/server/[ns_info server] enabletclpages off]} {
    foreach method {GET HEAD POST} {
        ns_register_proc $method /*.tcl ns_sourceproc
    }
}
