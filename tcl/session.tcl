# SPDX-License-Identifier: MPL-2.0
# session.tcl --
#
#       ns_session: values that belong to a browser, from request to request.
#
#       The browser has a random key in a cookie; the store knows the session by the digest
#       of the key, so what is in a store opens no session.  A session that has no value
#       `began` does not exist: so a value that is stored while another request ends the
#       session does not bring it back.
#
#       A store is a namespace with the procedures of _ns_session::memory.
#
#       nsv _ns_session         ID   a dict: until, values
#       nsv _ns_session.once    what has been done once in the process

namespace eval _ns_session {
    variable current {conn {}}
    variable settings {}
    namespace ensemble create -command ::ns_session -map {
        all ::_ns_session::All
        destroy ::_ns_session::Destroy
        exists ::_ns_session::Exists
        expire ::_ns_session::Expire
        get ::_ns_session::Get
        id ::_ns_session::Id
        istoken ::_ns_session::IsToken
        names ::_ns_session::Names
        renew ::_ns_session::Renew
        set ::_ns_session::Set
        token ::_ns_session::Token
        unset ::_ns_session::Unset
    }
}

# --- Commands

proc _ns_session::Id {} { return [dict get [Current] id] }

proc _ns_session::All {} { return [dict filter [dict get [Current] values] script {name value} {expr {$name ni {began token}}}] }

proc _ns_session::Names {} { return [dict keys [All]] }

proc _ns_session::Exists {name} { return [dict exists [All] $name] }

proc _ns_session::Get {name {default ""}} {
    set values [All]
    if {[dict exists $values $name]} { return [dict get $values $name] }
    return $default
}

# Begins a session if there is none.
proc _ns_session::Set {name value} {
    if {$name in {began token ""}} { error "bad name \"$name\"" }
    Put $name $value
    return $value
}

proc _ns_session::Unset {name} {
    variable current
    if {![Exists $name]} { return 0 }
    [Setting store]::Remove [dict get $current id] $name
    dict unset current values $name
    return 1
}

# The same values with another key, as after a login.
proc _ns_session::Renew {} {
    variable current
    if {[dict get [Current] id] eq ""} {
        Begin
    } else {
        lassign [NewKey] key id
        [Setting store]::Rename [dict get $current id] $id
        dict set current id $id
        SendCookie $key
    }
    return
}

proc _ns_session::Destroy {} {
    variable current
    set id [dict get [Current] id]
    if {$id eq ""} { return 0 }
    [Setting store]::Delete $id
    dict set current id ""
    dict set current values {}
    ns_deletecookie -path [Setting path] -domain [Setting domain] [Setting cookie]
    return 1
}

# What forms of this session carry, and other sites do not know.
proc _ns_session::Token {} {
    set values [dict get [Current] values]
    if {[dict exists $values token]} { return [dict get $values token] }
    set token [ns_crypto::randombytes -encoding base64url 24]
    Put token $token
    return $token
}

proc _ns_session::IsToken {token} {
    set values [dict get [Current] values]
    return [expr {[dict exists $values token]
                  && [ns_crypto::md string -- $token] eq [ns_crypto::md string -- [dict get $values token]]}]
}

# Remove those that are too old.
proc _ns_session::Expire {} { return [[Setting store]::Expire [ns_time]] }

# --- The session of the request

proc _ns_session::Setting {key} {
    variable settings
    if {$settings eq {}} {
        set section ns/server/[ns_info server]/sessions
        foreach {name default} {store memory pool {} cookie session path / domain {} samesite lax secure auto} {
            dict set settings $name [ns_config $section $name $default]
        }
        foreach {name default least} {timeout 2h 1 lifetime 0 0 cookieexpires 0 0} {
            set value [ns_config $section $name $default]
            if {[catch {ns_baseunit -time $value} time]} {
                ns_log warning "config: $section:$name value=$value is no time, $default is used"
                set time [ns_baseunit -time $default]
            } elseif {$time < $least} {
                ns_log warning "config: $section:$name value=$value, rounded up to $least"
                set time $least
            }
            dict set settings $name $time
        }
        set store [dict get $settings store]
        if {$store ni {memory redis database}} {
            set settings {}
            error "$section: store must be memory, redis or database, not \"$store\""
        }
        dict set settings store ::_ns_session::$store
    }
    return [dict get $settings $key]
}

# A dict: conn, id (empty: there is none), values.
proc _ns_session::Current {} {
    variable current
    set conn [ns_conn id]
    if {[dict get $current conn] eq $conn} { return $current }
    set id ""
    set values {}
    set key [ns_getcookie [Setting cookie] ""]
    # A key has this form; whatever else the client sends is not looked for.
    if {[regexp {^[A-Za-z0-9_-]{43}$} $key]} {
        set id [Digest $key]
        lassign [[Setting store]::Load $id] until values
        set id [Judge $id $until $values]
        if {$id eq ""} { set values {} }
    }
    return [set current [dict create conn $conn id $id values $values]]
}

# The id of a session that is still good.
proc _ns_session::Judge {id until values} {
    set now [ns_time]
    set lifetime [Setting lifetime]
    if {![dict exists $values began]} { return "" }
    if {$until <= $now || ($lifetime > 0 && [dict get $values began] + $lifetime <= $now)} {
        [Setting store]::Delete $id
        return ""
    }
    # Not with each request.
    set timeout [Setting timeout]
    if {$until - $now < $timeout - $timeout / 10} { [Setting store]::Touch $id [expr {$now + $timeout}] }
    return $id
}

proc _ns_session::Digest {key} { return [ns_crypto::md string -digest sha256 -encoding hex -- $key] }

proc _ns_session::NewKey {} {
    set key [ns_crypto::randombytes -encoding base64url 32]
    return [list $key [Digest $key]]
}

proc _ns_session::Begin {} {
    variable current
    set store [Setting store]
    if {![nsv_exists _ns_session.once $store]} {
        ${store}::Prepare
        if {[nsv_incr _ns_session.once $store] == 1} { ns_schedule_proc -thread 10m {ns_session expire} }
    }
    lassign [NewKey] key id
    set began [ns_time]
    ${store}::Create $id [expr {$began + [Setting timeout]}] $began
    dict set current id $id
    dict set current values [dict create began $began]
    SendCookie $key
}

proc _ns_session::Put {name value} {
    variable current
    if {[dict get [Current] id] eq ""} { Begin }
    [Setting store]::Put [dict get $current id] $name $value
    dict set current values $name $value
}

proc _ns_session::SendCookie {key} {
    set secure [Setting secure]
    if {$secure eq "auto"} { set secure [string match https:* [ns_conn location]] }
    set options [list -path [Setting path] -samesite [Setting samesite] -secure $secure -replace true]
    if {[Setting domain] ne ""} { lappend options -domain [Setting domain] }
    if {[Setting cookieexpires] > 0} { lappend options -expires [Setting cookieexpires] }
    ns_setcookie {*}$options -- [Setting cookie] $key
}

# What is wrong with the configuration is said at the start.
if {[ns_configsection ns/server/[ns_info server]/sessions] ne ""} { _ns_session::Setting store }

# --- In memory

namespace eval _ns_session::memory {}

proc _ns_session::memory::Prepare {} {}

proc _ns_session::memory::Load {id} {
    if {![nsv_get _ns_session $id session] || ![dict exists $session until]} { return {} }
    return [list [dict get $session until] [dict get $session values]]
}

proc _ns_session::memory::Create {id until began} {
    nsv_set _ns_session $id [dict create until $until values [dict create began $began]]
}

proc _ns_session::memory::Put {id name value} {
    if {[nsv_exists _ns_session $id]} { nsv_dict set _ns_session $id values $name $value }
}

proc _ns_session::memory::Remove {id name} {
    if {[nsv_exists _ns_session $id]} { nsv_dict unset _ns_session $id values $name }
}

proc _ns_session::memory::Touch {id until} {
    if {[nsv_exists _ns_session $id]} { nsv_dict set _ns_session $id until $until }
}

proc _ns_session::memory::Rename {id newId} {
    if {[nsv_get _ns_session $id session]} {
        nsv_set _ns_session $newId $session
        nsv_unset -nocomplain _ns_session $id
    }
}

proc _ns_session::memory::Delete {id} { nsv_unset -nocomplain _ns_session $id }

proc _ns_session::memory::Expire {now} {
    set n 0
    foreach {id session} [nsv_array get _ns_session] {
        if {![dict exists $session until] || [dict get $session until] <= $now} {
            nsv_unset -nocomplain _ns_session $id
            incr n
        }
    }
    return $n
}

# --- In Redis, which removes what is too old by itself

namespace eval _ns_session::redis {
    # A session that has ended meanwhile does not begin again.
    variable ifThere {if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call(unpack(ARGV)) end return 0}
}

proc _ns_session::redis::Do {args} {
    set pool [::_ns_session::Setting pool]
    ns_redis pipeline {*}[expr {$pool ne "" ? [list -pool $pool] : ""}] -atomic -- $args
}

proc _ns_session::redis::KeyOf {id} { return nsd:session:$id }

proc _ns_session::redis::Prepare {} {}

proc _ns_session::redis::Load {id} {
    lassign [Do [list HGETALL [KeyOf $id]] [list PTTL [KeyOf $id]]] values ttl
    return [list [expr {[ns_time] + ($ttl + 999) / 1000}] $values]
}

proc _ns_session::redis::Create {id until began} {
    Do [list HSET [KeyOf $id] began $began] [list EXPIREAT [KeyOf $id] $until]
}

proc _ns_session::redis::Put {id name value} { IfThere $id HSET [KeyOf $id] $name $value }
proc _ns_session::redis::Remove {id name} { IfThere $id HDEL [KeyOf $id] $name }
proc _ns_session::redis::Touch {id until} { Do [list EXPIREAT [KeyOf $id] $until] }
proc _ns_session::redis::Rename {id newId} { IfThere $id RENAMENX [KeyOf $id] [KeyOf $newId] }
proc _ns_session::redis::Delete {id} { Do [list DEL [KeyOf $id]] }
proc _ns_session::redis::Expire {now} { return 0 }

proc _ns_session::redis::IfThere {id args} {
    variable ifThere
    Do [list EVAL $ifThere 1 [KeyOf $id] {*}$args]
}

# --- In a database, PostgreSQL or SQLite

namespace eval _ns_session::database {
    variable tables {
        {create table if not exists session_key (id text primary key, until bigint not null)}
        {create table if not exists session_value (id text not null, name text not null, value text,
            primary key (id, name))}
    }
}

# Statements with the variables of the caller, each of them a change or, with `rows`, a
# question; several are one transaction.  The rows of the last.
proc _ns_session::database::Sql {kind args} {
    set pool [::_ns_session::Setting pool]
    set db [ns_db gethandle {*}[expr {$pool ne "" ? [list $pool] : ""}]]
    try {
        set bind [expr {[string match -nocase *postgres* [ns_db dbtype $db]] ? "ns_pg_bind" : "ns_sqlite_bind"}]
        if {[llength $args] > 1} { ns_db dml $db begin }
        try {
            foreach sql $args { set result [uplevel 1 [list $bind $kind $db $sql]] }
        } on error {message options} {
            if {[llength $args] > 1} { catch {ns_db dml $db rollback} }
            return -options $options $message
        }
        if {[llength $args] > 1} { ns_db dml $db commit }
        return $result
    } finally {
        ns_db releasehandle $db
    }
}

# Two that make a table at the same time may be in each other's way, and one succeeds.
proc _ns_session::database::Prepare {} {
    variable tables
    if {[nsv_exists _ns_session.once tables]} return
    foreach table $tables {
        if {[catch {Sql dml $table}]} { Sql dml $table }
    }
    nsv_set _ns_session.once tables 1
}

proc _ns_session::database::Load {id} {
    set until 0
    set values {}
    Prepare
    foreach row [Sql rows {select s.until, v.name, v.value from session_key s join session_value v on v.id = s.id
        where s.id = :id}] {
        set until [dict get $row until]
        dict set values [dict get $row name] [dict get $row value]
    }
    return [list $until $values]
}

proc _ns_session::database::Create {id until began} {
    Sql dml {insert into session_key (id, until) values (:id, :until)} \
        {insert into session_value (id, name, value) values (:id, 'began', :began)}
}

proc _ns_session::database::Put {id name value} {
    Sql dml {insert into session_value (id, name, value)
        select s.id, :name, :value from session_key s where s.id = :id
        on conflict (id, name) do update set value = excluded.value}
}

proc _ns_session::database::Remove {id name} {
    Sql dml {delete from session_value where id = :id and name = :name}
}

proc _ns_session::database::Touch {id until} { Sql dml {update session_key set until = :until where id = :id} }

proc _ns_session::database::Rename {id newId} {
    Sql dml {update session_key set id = :newId where id = :id} {update session_value set id = :newId where id = :id}
}

proc _ns_session::database::Delete {id} {
    Sql dml {delete from session_value where id = :id} {delete from session_key where id = :id}
}

proc _ns_session::database::Expire {now} {
    set ids [lmap row [Sql rows {select id from session_key where until <= :now}] { dict get $row id }]
    foreach id $ids { Delete $id }
    return [llength $ids]
}
