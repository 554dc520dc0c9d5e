# SPDX-License-Identifier: MPL-2.0
# board.tcl --
#
#       A board where everybody who has said a name writes notes.
#
#       GET  /me       the machine and the name, as text
#       POST /name     name
#       POST /say      text token

namespace eval board {
    variable machine [ns_config site machine]
}

# A statement with the variables of the caller.
proc board::sql {kind statement} {
    set db [ns_db gethandle data]
    try {
        return [uplevel 1 [list ns_pg_bind $kind $db $statement]]
    } finally {
        ns_db releasehandle $db
    }
}

# What the page shows: a form for a name, or for a note; and the notes.
proc board::form {} {
    if {![ns_session exists name]} {
        return {<form method="post" action="/name">
            <label>Your name <input name="name" required maxlength="40"></label> <button>Come in</button></form>}
    }
    return "<form method='post' action='/say'><input type='hidden' name='token' value='[ns_session token]'>
        <label>[ns_quotehtml [ns_session get name]] says <input name='text' required maxlength='200'></label>
        <button>Say it</button></form>"
}

proc board::notes {} {
    set html ""
    foreach note [sql rows {select author, text, machine from note order by id desc limit 20}] {
        dict with note {
            append html "<li><b>[ns_quotehtml $author]</b>: [ns_quotehtml $text] <small>(by machine $machine)</small></li>\n"
        }
    }
    return $html
}

proc board::me {} {
    variable machine
    ns_return 200 text/plain "$machine [ns_session get name nobody]"
}

proc board::name {} {
    ns_session renew
    ns_session set name [ns_queryget name nobody]
    ns_returnredirect /
}

# Another site may have made the browser send this: it does not know the token.
proc board::say {} {
    variable machine
    if {![ns_session istoken [ns_queryget token]]} {
        ns_returnforbidden
        return
    }
    set author [ns_session get name nobody]
    set text [ns_queryget text]
    sql dml {insert into note (author, text, machine) values (:author, :text, :machine)}
    ns_returnredirect /
}

ns_register_proc GET  /me   board::me
ns_register_proc POST /name board::name
ns_register_proc POST /say  board::say
