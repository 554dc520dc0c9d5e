# SPDX-License-Identifier: MPL-2.0
# chat-procs.tcl --
#
#       The chat: everybody who is there hears what anybody says, by WebSocket.
#
#       A connection needs no thread.  Messages are handled one after the other in one
#       thread, so all hear everything in one order.  That must not wait, so what was said
#       goes to the database a moment later.
#
#           nsv chat_members    CHANNEL {ACCOUNT NAME}
#           nsv chat            next: the number of the next message
#           nsv chat_unsaved    NUMBER {ACCOUNT TEXT TIME}

namespace eval chat {
    variable maxLength 2000
}

proc chat::init {} {
    nsv_set chat saving [ns_mutex create chat_save]
    nsv_set chat next [expr {1 + [db::value {select coalesce(max(id), 0) from chat_message}]}]
}

# What was said last, oldest first: dicts of id, name, body, created.
proc chat::recent {limit} {
    lreverse [db::rows {
        select c.id, a.name, c.body, c.created from chat_message c join account a on a.id = c.account_id
        order by c.id desc limit :limit
    }]
}

# The request becomes a WebSocket.
proc chat::connect {} {
    set member [list [conn account_id] [account::name [conn account_id]]]
    ns_websocket upgrade -onopen [list chat::Join $member] -onmessage chat::Say -onclose chat::Leave
    page::stop
}

proc chat::Join {member channel} {
    nsv_set chat_members $channel $member
    ns_websocket subscribe $channel chat
}

proc chat::Say {channel type text} {
    variable maxLength
    lassign [nsv_get chat_members $channel] account name
    set text [string range [string trim $text] 0 $maxLength-1]
    if {$text eq ""} return
    set id [expr {[nsv_incr chat next] - 1}]
    set now [ns_time]
    nsv_set chat_unsaved $id [list $account $text $now]
    ns_websocket multicast chat [ns_json value -type object [list id number $id name string $name hue number [site::hue $name] body string $text created number $now]]
}

proc chat::Leave {channel code reason} { nsv_unset -nocomplain chat_members $channel }

proc chat::members {} {
    return [lsort -unique [lmap {channel member} [nsv_array get chat_members] { lindex $member 1 }]]
}

# Scheduled, and once more at the end: what was said goes to the database.
proc chat::save {} {
    ns_mutex eval [nsv_get chat saving] {
        set ids [lsort -integer [nsv_array names chat_unsaved]]
        if {[llength $ids]} {
            db::transaction {
                foreach id $ids {
                    lassign [nsv_get chat_unsaved $id] account text created
                    db::dml {
                        insert into chat_message (id, account_id, body, created) values (:id, :account, :text, :created)
                        on conflict do nothing
                    }
                }
            }
            foreach id $ids { nsv_unset chat_unsaved $id }
        }
    }
}
