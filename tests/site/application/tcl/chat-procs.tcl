# SPDX-License-Identifier: MPL-2.0
# chat-procs.tcl --
#
#       The chat: everybody who is there hears what anybody says, by WebSocket.
#
#       A connection is a channel of ns_connchan and needs no thread.  Callbacks run one
#       after the other in one thread, so all hear everything in one order.  They must
#       not wait, so what was said goes to the database a moment later.
#
#           nsv chat_members    CHANNEL {ACCOUNT NAME}
#           nsv chat            next: the number of the next message; mutex: of the members
#           nsv chat_unsaved    NUMBER {ACCOUNT TEXT TIME}

namespace eval chat {
    # One who does not take what others say has to go at some point.
    variable maxBehind 1000000
    variable maxLength 2000
}

proc chat::init {} {
    nsv_set chat saving [ns_mutex create chat_save]
    nsv_set chat mutex [ns_mutex create chat]
    nsv_set chat next [expr {1 + [db::value {select coalesce(max(id), 0) from chat_message}]}]
}

# What was said last, oldest first: dicts of id, name, body, created.
proc chat::recent {limit} {
    lreverse [db::rows {
        select c.id, a.name, c.body, c.created from chat_message c join account a on a.id = c.account_id
        order by c.id desc limit :limit
    }]
}

# The request becomes a WebSocket (RFC 6455).
proc chat::connect {} {
    set headers [ns_conn headers]
    set key [ns_set iget $headers Sec-WebSocket-Key]
    if {![string equal -nocase [ns_set iget $headers Upgrade] websocket] || $key eq ""} {
        page::badRequest "This address is for WebSocket."
    }
    if {![session::isFromHere]} page::forbidden
    set member [list [conn account_id] [account::name [conn account_id]]]
    set accept [ns_crypto::md string -digest sha1 -encoding base64 ${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11]
    set channel [ns_connchan detach]
    # From this answer on nothing may be missed.
    ns_mutex eval [nsv_get chat mutex] {
        ns_connchan write $channel "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: $accept\r\n\r\n"
        nsv_set chat_members $channel $member
    }
    Listen $channel
    page::stop
}

proc chat::Listen {channel {when r}} {
    # Browsers that sleep do not say good-bye.
    ns_connchan callback -timeout 1h $channel [list chat::Hear $channel] $when
}

# A callback: 1 waits for more, 2 for what another callback was set for, 0 ends it.
proc chat::Hear {channel reason} {
    try {
        switch $reason {
            r       { set isOpen [Read $channel] }
            w       { set isOpen [Write $channel ""] }
            default { set isOpen 0 }
        }
    } on error message {
        ns_log Notice "chat: $channel: $message"
        set isOpen 0
    }
    if {!$isOpen} { Leave $channel }
    return $isOpen
}

proc chat::Read {channel} {
    while 1 {
        set frame [ns_connchan read -websocket $channel]
        if {[dict get $frame frame] eq "exception"} { return 0 }
        if {[dict exists $frame payload]} {
            set payload [dict get $frame payload]
            switch [dict get $frame opcode] {
                1 { Say $channel [encoding convertfrom utf-8 $payload] }
                8 { ns_connchan write $channel [ns_connchan wsencode -binary -opcode close $payload]; return 0 }
                9 { Write $channel [ns_connchan wsencode -binary -opcode pong $payload] }
            }
        } elseif {[dict get $frame bytes] <= 0} {
            return 0
        }
        if {![dict get $frame havedata]} { return 1 }
    }
}

# What the socket does not take waits in the channel, and goes on when there is room.
proc chat::Write {channel data} {
    variable maxBehind
    set had [Behind $channel]
    ns_connchan write $channel $data
    set has [Behind $channel]
    if {$has > $maxBehind} { return 0 }
    if {($had > 0) != ($has > 0)} { Listen $channel [expr {$has ? "rw" : "r"}] }
    return 1
}
proc chat::Behind {channel} { dict get [ns_connchan status $channel] sendbuffer }

proc chat::Say {channel text} {
    variable maxLength
    lassign [nsv_get chat_members $channel] account name
    set text [string range [string trim $text] 0 $maxLength-1]
    if {$text eq ""} return
    set id [expr {[nsv_incr chat next] - 1}]
    set now [ns_time]
    nsv_set chat_unsaved $id [list $account $text $now]
    Tell [ns_json value -type object [list id number $id name string $name hue number [site::hue $name] body string $text created number $now]]
}

proc chat::Tell {json} {
    set frame [ns_connchan wsencode $json]
    foreach channel [ns_mutex eval [nsv_get chat mutex] { nsv_array names chat_members }] {
        if {[catch {Write $channel $frame} result] || !$result} {
            Leave $channel
            catch {ns_connchan close $channel}
        }
    }
}

proc chat::Leave {channel} { nsv_unset -nocomplain chat_members $channel }

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
