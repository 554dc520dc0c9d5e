# SPDX-License-Identifier: MPL-2.0
# db-procs.tcl --
#
#       Statements for either database.
#
#       A name behind a colon is a variable of the caller: the database gets its value
#       apart from the statement.  Statements of one script of db::with, and all inside
#       of it, use one connection.
#
#       db::rows SQL               a list of dicts
#       db::row SQL                the dict of the only row; empty if there is none
#       db::value SQL ?default?    the first column of the only row
#       db::column SQL             the first column of all rows, a list
#       db::dml SQL                nothing
#       db::foreach SQL SCRIPT     runs it for each row, whose columns are variables,
#                                  while the rows arrive
#       db::transaction SCRIPT     all of it, or nothing
#       db::onCommit WORDS         runs a command when the transaction has succeeded, or
#                                  now if there is none

namespace eval db {
    variable handle   ""    ;# Of this thread, while a script of db::with runs.
    variable isOpen   0     ;# A transaction.
    variable deferred {}    ;# Commands of db::onCommit.
}

proc db::with {script} {
    variable handle
    if {$handle ne ""} { return [uplevel 1 $script] }
    set handle [ns_db gethandle]
    try {
        uplevel 1 $script
    } finally {
        ns_db releasehandle $handle
        set handle ""
    }
}

# The command that binds variables, of the database that is configured.
proc db::Bind {} {
    return [dict get {sqlite ns_sqlite_bind postgres ns_pg_bind} [site::parameter database]]
}

proc db::rows {sql} {
    variable handle
    with { uplevel 1 [list [Bind] rows $handle $sql] }
}

proc db::row {sql} {
    set rows [uplevel 1 [list db::rows $sql]]
    if {[llength $rows] > 1} { error "one row expected, got [llength $rows]: $sql" }
    return [lindex $rows 0]
}

proc db::value {sql {default ""}} {
    set row [uplevel 1 [list db::row $sql]]
    return [expr {[dict size $row] ? [lindex [dict values $row] 0] : $default}]
}

proc db::column {sql} {
    lmap row [uplevel 1 [list db::rows $sql]] { lindex [dict values $row] 0 }
}

proc db::dml {sql} {
    variable handle
    with { uplevel 1 [list [Bind] dml $handle $sql] }
    return
}

proc db::foreach {sql script} {
    variable handle
    with {
        set row [uplevel 1 [list [Bind] select $handle $sql]]
        while {[ns_db getrow $handle $row]} {
            ::foreach {column value} [ns_set array $row] {
                upvar 1 $column variable
                set variable $value
            }
            uplevel 1 $script
        }
    }
    return
}

# What the script puts into caches is seen by others when the database has it, too.
proc db::transaction {script} {
    variable handle
    variable isOpen
    variable deferred
    if {$isOpen} { return [uplevel 1 $script] }
    with {
        # SQLite has one writer at a time: ask for its place before reading anything, or
        # two who have read would wait for each other.
        ns_db dml $handle [expr {[site::parameter database] eq "sqlite" ? "begin immediate" : "begin"}]
        ns_cache_transaction_begin
        set isOpen 1
        set deferred {}
        set code [catch {uplevel 1 $script} result options]
        if {$code != 1} {
            set code [catch {ns_db dml $handle "commit"} message failure]
            if {$code} { set result $message; set options $failure }
        }
        set isOpen 0
        if {$code == 1} {
            catch {ns_db dml $handle "rollback"}
            ns_cache_transaction_rollback
            set deferred {}
        } else {
            ns_cache_transaction_commit
        }
    }
    # With the connection given back.
    set commands $deferred
    set deferred {}
    ::foreach command $commands { {*}$command }
    return -options $options $result
}

proc db::onCommit {args} {
    variable isOpen
    variable deferred
    if {$isOpen} { lappend deferred $args } else { {*}$args }
    return
}

# Make the tables if there are none.
proc db::install {} {
    variable handle
    if {[site::parameter database] eq "sqlite"} {
        set isThere [value {select count(*) from sqlite_master where name = 'account'}]
    } else {
        set isThere [value {select count(*) from pg_tables where schemaname = current_schema() and tablename = 'account'}]
    }
    if {$isThere} { return 0 }
    set file [site::parameter directory]/sql/[site::parameter database].sql
    with { ns_db interpretsqlfile $handle $file }
    ns_log Notice "db: tables made: $file"
    return 1
}
