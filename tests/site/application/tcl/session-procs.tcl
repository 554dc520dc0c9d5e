# SPDX-License-Identifier: MPL-2.0
# session-procs.tcl --
#
#       Who is there.
#
#       The cookie of a session is SESSION.EXPIRES.KEY.MAC: the last part, made with a
#       secret key, shows that the others are ours.  A new key takes over once in a
#       while, and one goes when all cookies that it has signed have expired.  The
#       session itself is a row, so that a log-out holds, whoever has a copy of the cookie.

namespace eval session {
    variable cookie commons_session
}

# --- Keys

# All keys, the newest first: {ID SECRET CREATED ...}.
proc session::Keys {} {
    ns_cache_eval commons keys {
        concat {*}[lmap row [db::rows {select id, secret, created from signing_key order by id desc}] { dict values $row }]
    }
}

proc session::rotateKeys {{isForced 0}} {
    set now [ns_time]
    set newest [db::value {select max(created) from signing_key} 0]
    if {!$isForced && $newest ne "" && $newest > $now - [site::seconds keylifetime]} return
    set secret [ns_crypto::randombytes 32]
    # Cookies that the one before has signed are good for a lifetime from now.
    set oldest [expr {$now - [site::seconds sessionlifetime] - [site::seconds keylifetime]}]
    db::transaction {
        db::dml {insert into signing_key (secret, created) values (:secret, :now)}
        db::dml {delete from signing_key where created < :oldest}
        db::onCommit ns_cache_flush commons keys
    }
    ns_log Notice "session: a new key signs cookies"
}

# A text that only this site can have made: of the newest key, or of the one given.
proc session::Sign {purpose text {key ""}} {
    foreach {id secret created} [Keys] {
        if {$key eq "" || $id eq $key} {
            return [list $id [ns_crypto::hmac string -encoding base64url $secret $purpose:$text]]
        }
    }
    return {"" ""}
}

# --- Sessions

# A visitor has shown the password.
proc session::begin {accountId} {
    set id [ns_crypto::randombytes -encoding base64url 18]
    set now [ns_time]
    db::dml {insert into session (id, account_id, last_used) values (:id, :accountId, :now)}
    SetCookie $id
    ns_log Notice "session: account $accountId has logged in"
}

proc session::SetCookie {id} {
    variable cookie
    set lifetime [site::seconds sessionlifetime]
    set text $id.[expr {[ns_time] + $lifetime}]
    lassign [Sign cookie $text] key mac
    ns_setcookie -path / -expires $lifetime -replace true -secure [string match https:* [ns_conn location]] -- \
        $cookie $text.$key.$mac
}

# The session of this request: a dict of id and account_id, or an empty one.
proc session::read {} {
    variable cookie
    if {![regexp {^([\w-]+)\.(\d{1,12})\.(\d{1,9})\.([\w-]+)$} [ns_getcookie $cookie ""] - id expires key mac]} { return {} }
    if {$expires < [ns_time] || [lindex [Sign cookie $id.$expires $key] 1] ne $mac} { return {} }
    set accountId [ns_cache_eval commons "session $id" {
        db::value {select account_id from session where id = :id}
    }]
    if {$accountId eq ""} { return {} }
    # A session that is in use stays: half of its time before its end, it begins anew.
    if {$expires < [ns_time] + [site::seconds sessionlifetime] / 2 || $key ne [lindex [Keys] 0]} {
        set now [ns_time]
        db::dml {update session set last_used = :now where id = :id}
        SetCookie $id
    }
    return [dict create id $id account_id $accountId]
}

proc session::end {} {
    variable cookie
    set id [dict get [conn session] id]
    db::dml {delete from session where id = :id}
    ns_cache_flush commons "session $id"
    ns_deletecookie -path / -replace true -- $cookie
    ns_log Notice "session: account [conn account_id] has logged out"
}

# Sessions whose cookies have expired.
proc session::sweep {} {
    set oldest [expr {[ns_time] - 2 * [site::seconds sessionlifetime]}]
    foreach id [db::column {select id from session where last_used < :oldest}] {
        db::dml {delete from session where id = :id}
        ns_cache_flush commons "session $id"
    }
}

# --- Forms

# A field that each form of a session has: another site does not know its value.
proc session::token {} {
    set session [conn session]
    if {$session eq ""} { return "" }
    return [lindex [Sign form [dict get $session id]] 1]
}

# Browsers say on whose page a form, or a script, was.
proc session::isFromHere {} {
    set origin [ns_set iget [ns_conn headers] Origin]
    return [expr {$origin eq "" || $origin eq [ns_conn location]}]
}

proc session::isOurForm {} {
    if {![isFromHere]} { return 0 }
    set session [conn session]
    if {$session eq ""} { return 1 }
    set token [ns_queryget token]
    foreach {key secret created} [Keys] {
        if {$token eq [lindex [Sign form [dict get $session id] $key] 1]} { return 1 }
    }
    return 0
}
