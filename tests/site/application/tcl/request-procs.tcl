# SPDX-License-Identifier: MPL-2.0
# request-procs.tcl --
#
#       The request processor: from a URL to a page.
#
#       A filter finds out, for each request, what it is about: the node of the site map
#       that is nearest to the URL, who asks, in which language, and whether this visitor
#       may.  Then the handler runs the page: www/PACKAGE/REST.tcl, and with the
#       variables that it has set www/PACKAGE/REST.adp, inside of www/master.adp.
#
#       [conn KEY] tells a page what the filter has found:
#           url, node (dict of url, package, board_id), rest (of the URL below the node),
#           session, account_id (0: a guest), account (dict), locale

namespace eval rp {}
namespace eval page {}
namespace eval sitemap {}

# --- The site map

# It is kept in a URL space, which all threads see at once.
proc sitemap::init {} {
    nsv_set commons sitemap [ns_urlspace new]
}
proc sitemap::load {} {
    foreach row [db::rows {select url, package, board_id from site_node}] { Set $row }
}

proc sitemap::Set {node} {
    ns_urlspace set -id [nsv_get commons sitemap] -key node [dict get $node url] $node
}

proc sitemap::mount {url package {board_id ""}} {
    db::dml {insert into site_node (url, package, board_id) values (:url, :package, :board_id)}
    db::onCommit sitemap::Set [dict create url $url package $package board_id $board_id]
}

proc sitemap::node {url} { ns_urlspace get -id [nsv_get commons sitemap] -key node $url }

# Where a board is.
proc sitemap::boardUrl {boardId} {
    foreach entry [ns_urlspace list -id [nsv_get commons sitemap]] {
        set node [lindex $entry end]
        if {[dict get $node board_id] eq $boardId} { return [dict get $node url] }
    }
    error "board $boardId is not mounted"
}

# --- Requests

proc conn {key} {
    global conn
    return $conn($key)
}

proc rp::init {} {
    foreach method {GET HEAD POST} {
        ns_shortcut_filter preauth $method /resources/*
        ns_register_filter preauth $method /* rp::filter
        ns_register_proc $method / rp::handle
    }
    foreach method {GET HEAD} { ns_register_fastpath $method /resources }
}

proc rp::filter {when} {
    return [page::unlessStopped { rp::Prepare; rp::Authorize } filter_ok filter_return]
}

proc rp::Prepare {} {
    global conn
    unset -nocomplain conn
    # What follows may fail; the error page needs these.
    array set conn [list url [ns_conn url] node {} rest "" session {} account_id 0 account {} locale en]
    set conn(node) [sitemap::node $conn(url)]
    set conn(rest) [string trim [string range $conn(url) [string length [dict get $conn(node) url]] end] /]
    set conn(session) [session::read]
    if {$conn(session) ne ""} {
        set conn(account_id) [dict get $conn(session) account_id]
        set conn(account) [account::get $conn(account_id)]
        nsv_set seen $conn(account_id) [ns_time]
    }
    set conn(locale) [i18n::choose [expr {$conn(account) eq "" ? "" : [dict get $conn(account) locale]}]]
    # Forms that do not name their charset have that of the pages.
    ns_conn encoding [ns_encodingforcharset [i18n::charset $conn(locale)]]
}

proc rp::Authorize {} {
    if {[ns_conn method] eq "POST" && ![session::isOurForm]} {
        ns_log Warning "rp: refused: [ns_conn url]: the form is not one of ours"
        page::forbidden
    }
    set board [dict get [conn node] board_id]
    if {$board ne ""} { permission::require read $board }
    if {[dict get [conn node] package] eq "admin"} { permission::requireAdmin }
}

proc rp::handle {} {
    # An error page is another URL in the same request, which has met no filter.
    if {![info exists ::conn(url)] || $::conn(url) ne [ns_conn url]} { rp::Prepare }
    set rest [expr {[conn rest] eq "" ? "index" : [conn rest]}]
    if {![regexp {^[a-z][a-z0-9-]*$} $rest]} { ns_returnnotfound; return }
    page::unlessStopped { page::serve [dict get [conn node] package]/$rest }
}

# --- Pages

# A page that has answered by itself ends with page::stop, from wherever it is.
proc page::stop {} { throw {COMMONS STOP} "the page has answered" }

proc page::unlessStopped {script {done ""} {stopped ""}} {
    try {
        uplevel 1 $script
        return $done
    } trap {COMMONS STOP} {} {
        return $stopped
    }
}

proc page::notFound {} { ns_returnnotfound; stop }
proc page::forbidden {} { ns_returnforbidden; stop }
proc page::badRequest {reason} { ns_returnbadrequest $reason; stop }
proc page::redirect {url} { ns_returnredirect $url; stop }

proc page::json {value} {
    ns_return 200 application/json $value
    stop
}

proc page::serve {name} {
    set base [site::parameter directory]/www/$name
    set variables {}
    if {[file exists $base.tcl]} {
        set variables [[Procedure $name $base.tcl]]
    } elseif {![file exists $base.adp]} {
        notFound
    }
    set content [ns_adp_parse -file -- $base.adp $variables]
    set title [expr {[dict exists $variables title] ? [dict get $variables title] : [site::title]}]
    reply [ns_adp_parse -file -- [site::parameter directory]/www/master.adp [dict create title $title content $content]]
}

# The script of a page as a procedure, whose result is its variables.  It is made once in
# each thread, and anew when the file has changed.
proc page::Procedure {name file} {
    variable made
    set procedure ::page::script::$name
    set stamp [list [file mtime $file] [file size $file]]
    if {![info exists made($name)] || $made($name) ne $stamp} {
        set channel [open $file]
        fconfigure $channel -encoding utf-8
        namespace eval ::page::script {}
        proc $procedure {} "[read $channel]\npage::Variables"
        close $channel
        set made($name) $stamp
    }
    return $procedure
}
proc page::Variables {} {
    set variables {}
    foreach name [uplevel 1 {info locals}] {
        upvar 1 $name variable
        if {![array exists variable]} { dict set variables $name $variable }
    }
    return $variables
}

# The first command of a template: the variables of its page, or of whoever includes it.
proc page::variables {} {
    foreach {name value} [ns_adp_argv 1] {
        upvar 1 $name variable
        set variable $value
    }
}

proc page::include {file args} { return [ns_adp_parse -file -- [site::parameter directory]/www/$file.adp $args] }

proc page::reply {html} {
    set charset [i18n::charset [conn locale]]
    set headers [ns_conn outputheaders]
    ns_set iupdate $headers Content-Security-Policy "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
    ns_set iupdate $headers Cache-Control "private, no-cache"
    ns_set iupdate $headers Content-Language [conn locale]
    ns_return 200 "text/html; charset=$charset" [i18n::encodable $html $charset]
}

# The values that a page expects of its query or form, as variables of the page:
#
#       page::contract {{id integer} {page integer 1} {title line} {body text ""}}
#
# Types are integer, line, text, and flag (1 if it is there).  What is not as it should
# be is a request that this site's pages do not make.
proc page::contract {fields} {
    foreach field $fields {
        lassign $field name type default
        upvar 1 $name variable
        set isOptional [expr {[llength $field] > 2}]
        if {$type eq "flag"} { set variable [ns_queryexists $name]; continue }
        set value [string trim [ns_queryget $name]]
        if {$value eq "" && $isOptional} { set variable $default; continue }
        set isValid [switch $type {
            integer { regexp {^\d{1,9}$} $value }
            line    { expr {$value ne "" && [string length $value] <= 200 && ![regexp {[\x00-\x1f\x7f]} $value]} }
            text    { expr {$value ne "" && [string first \0 $value] < 0} }
        }]
        if {!$isValid} { badRequest [_ error.field name [h $name]] }
        if {$type eq "integer"} { scan $value %d value }
        set variable $value
    }
}

# The fields that all forms have: the charset is filled in by the browser.
proc page::formFields {} {
    return "<input type=\"hidden\" name=\"_charset_\"><input type=\"hidden\" name=\"token\" value=\"[session::token]\">"
}
