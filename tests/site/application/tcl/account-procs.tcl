# SPDX-License-Identifier: MPL-2.0
# account-procs.tcl --
#
#       People who have registered.

namespace eval account {}

# A dict of id, name, email, locale, is_admin.
proc account::get {id} {
    ns_cache_eval commons "account $id" {
        db::row {select id, name, email, locale, is_admin from account where id = :id}
    }
}
proc account::name {id} { dict get [get $id] name }

# The new account's id.  The first account is the administrator's.
proc account::create {name email password} {
    set hash [HashOf $password]
    set now [ns_time]
    set locale [conn locale]
    db::transaction {
        if {[db::value {select 1 from account where lower(name) = lower(:name)}] ne ""} {
            throw {COMMONS TAKEN} "the name is taken"
        }
        set isAdmin [expr {![db::value {select count(*) from account}]}]
        set id [db::value {
            insert into account (name, email, password, locale, is_admin, created)
            values (:name, :email, :hash, :locale, :isAdmin, :now) returning id
        }]
        mail::queue $email [_ mail.welcome.subject site [site::title]] [_ mail.welcome.body name $name site [site::title]]
    }
    ns_log Notice "account: $id registered as \"$name\""
    return $id
}

proc account::update {id email locale} {
    db::dml {update account set email = :email, locale = :locale where id = :id}
    ns_cache_flush commons "account $id"
}

# The id of the account with this name and password, or empty.
proc account::authenticate {name password} {
    set row [db::row {select id, password from account where lower(name) = lower(:name)}]
    if {$row eq ""} {
        # As long as it takes for a name that exists.
        HashOf $password
        return ""
    }
    lassign [split [dict get $row password] :] - cost salt
    if {[HashOf $password $cost $salt] ne [dict get $row password]} {
        ns_log Security "account: wrong password for account [dict get $row id] from [ns_conn peeraddr]"
        return ""
    }
    return [dict get $row id]
}

proc account::HashOf {password {cost ""} {salt ""}} {
    if {$cost eq ""} {
        set cost [site::parameter passwordcost]
        set salt [ns_crypto::randombytes -encoding base64url 16]
    }
    return scrypt:$cost:$salt:[ns_crypto::scrypt -n $cost -r 8 -p 1 -salt $salt -secret $password -encoding base64url]
}

# --- Who is here

proc account::online {} {
    set since [expr {[ns_time] - 300}]
    set ids {}
    foreach {id seen} [nsv_array get seen] { if {$seen >= $since} { lappend ids $id } }
    return [lsort [lmap id $ids { name $id }]]
}
proc account::forgetSeen {} {
    set since [expr {[ns_time] - 300}]
    foreach {id seen} [nsv_array get seen] { if {$seen < $since} { nsv_unset -nocomplain seen $id } }
}
