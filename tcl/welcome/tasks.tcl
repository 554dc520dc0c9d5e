# SPDX-License-Identifier: MPL-2.0
# tasks.tcl --
#
#       A JSON API with the statuses that clients expect: a list of tasks.
#
#       GET                    200, all tasks; with ?id=N one of them
#       POST {"title": "..."}  201 and Location
#       DELETE ?id=N           204
#       else                   400, 404, 405, 415 and the reason

namespace eval tasks {}

proc tasks::answer {status triples} {
    ns_return $status application/json [ns_json value -type object $triples]\n
}

proc tasks::refuse {status reason} {
    answer $status [list status number $status reason string $reason]
}

proc tasks::GET {} {
    set id [ns_queryget id]
    if {$id eq ""} {
        set tasks {}
        foreach id [lsort -integer [nsv_array names tasks]] {
            lappend tasks [expr {[llength $tasks] / 3}] object [nsv_get tasks $id]
        }
        return [answer 200 [list tasks array $tasks]]
    }
    if {![nsv_exists tasks $id]} { return [refuse 404 "no such task"] }
    answer 200 [nsv_get tasks $id]
}

proc tasks::POST {} {
    if {[dict get [ns_conn contenttype] type] ne "application/json"} {
        return [refuse 415 "the body is not of type application/json"]
    }
    if {[catch {dict get [ns_getjson] title} title] || $title eq "" || [string length $title] > 200} {
        return [refuse 400 "not a JSON object with a title of 1 to 200 characters"]
    }
    set id [nsv_incr tasks.last id]
    nsv_set tasks $id [list id number $id title string $title]
    nsv_unset -nocomplain tasks [expr {$id - 100}]
    ns_set update [ns_conn outputheaders] Location /examples/tasks?id=$id
    answer 201 [nsv_get tasks $id]
}

proc tasks::DELETE {} {
    set id [ns_queryget id]
    if {![nsv_exists tasks $id]} { return [refuse 404 "no such task"] }
    nsv_unset -nocomplain tasks $id
    ns_return 204 application/json ""
}

foreach method {GET POST DELETE} {
    ns_register_proc $method /examples/tasks tasks::$method
}
