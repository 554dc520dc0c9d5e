# SPDX-License-Identifier: MPL-2.0
# permission-procs.tcl --
#
#       Who may do what on which board.
#
#       Privileges are read, write and moderate, each with those before it.  They are
#       granted to an account, to all members, or to the public; administrators have all.

namespace eval permission {}

proc permission::has {privilege boardId {accountId ""}} {
    if {$accountId eq ""} { set accountId [conn account_id] }
    expr {$privilege in [Of $boardId $accountId]}
}

# The privileges of an account on a board.
proc permission::Of {boardId accountId} {
    ns_cache_eval commons "permission $boardId $accountId" {
        set granted [expr {$accountId && [dict get [account::get $accountId] is_admin] ? {moderate} : [db::column {
            select privilege from permission
            where board_id = :boardId
              and (party = 'public' or party = cast(:accountId as text) or (party = 'members' and :accountId <> 0))
        }]}]
        if {"moderate" in $granted} { lappend granted write }
        if {"write" in $granted} { lappend granted read }
        lsort -unique $granted
    }
}

proc permission::grant {boardId party privilege} {
    db::dml {
        insert into permission (board_id, party, privilege) values (:boardId, :party, :privilege)
        on conflict do nothing
    }
    db::onCommit ns_cache_flush -glob commons "permission $boardId *"
}

# A guest is asked to log in, and comes back then; others hear that they may not.
proc permission::require {privilege boardId} {
    if {![has $privilege $boardId]} { Refuse }
}
proc permission::requireMember {} {
    if {![conn account_id]} { Refuse }
}
proc permission::requireAdmin {} {
    if {![conn account_id] || ![dict get [conn account] is_admin]} { Refuse }
}

proc permission::Refuse {} {
    if {[conn account_id]} { page::forbidden }
    set url [ns_conn url]
    if {[ns_conn query] ne "" && [ns_conn method] eq "GET"} { append url ?[ns_conn query] }
    page::redirect /account/login?[ns_urlencode return]=[ns_urlencode $url]
}
