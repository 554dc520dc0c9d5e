# SPDX-License-Identifier: MPL-2.0
# guestbook.tcl --
#
#       A form, a database, and nothing that a visitor can break: values are bound into
#       statements and quoted in pages, and a token shows that the form is ours.

set title "A form and a database"
set cost "A connection thread, and a handle of the pool while it runs; those who find none wait two seconds."
set manual {database forms connection#cookies crypto#message-authentication-codes}

if {[catch {ns_db gethandle -timeout 2s} db] || $db eq ""} {
    return [welcome::reply 503 $title [welcome::problem "No database: this page needs a pool, as sample-config.tcl has."] $cost $manual]
}
ns_db dml $db {create table if not exists guestbook (id integer primary key, name text, message text)}

# Other sites cannot make a visitor post here: they know neither the cookie nor the secret.
set visitor [ns_getcookie visitor ""]
if {![regexp {^[0-9a-f]{32}$} $visitor]} {
    set visitor [ns_crypto::randombytes 16]
    ns_setcookie -path [ns_conn url] -samesite strict -- visitor $visitor
}
set token [ns_crypto::hmac string [nsv_set -default examples secret [ns_crypto::randombytes 32]] $visitor]

set name ""
set message ""
set status 200
set problem ""
if {[ns_conn method] eq "POST"} {
    foreach field {name message} { set $field [string trim [ns_queryget $field]] }
    if {[ns_queryget token] ne $token} {
        set status 403
        set problem [welcome::problem "This form did not come from this page, or is old. Please send it again."]
    } elseif {$name eq "" || $message eq "" || [string length $name] > 60 || [string length $message] > 500} {
        set status 422
        set problem [welcome::problem "Please enter a name and a message of at most 500 characters."]
    } else {
        ns_sqlite_bind dml $db {insert into guestbook (name, message) values (:name, :message)}
        ns_db dml $db {delete from guestbook where id <= (select max(id) from guestbook) - 50}
        # A reload of the page that follows sends nothing again.
        return [ns_returnredirect [ns_conn url]]
    }
}

set entries ""
set row [ns_db select $db {select name, message from guestbook order by id desc limit 10}]
while {[ns_db getrow $db $row]} {
    append entries "<li><b>[ns_quotehtml [ns_set get $row name]]</b> [ns_quotehtml [ns_set get $row message]]</li>\n"
}
if {$entries eq ""} { set entries "<li>Nobody has written yet.</li>" }

welcome::reply $status $title "$problem<form method=\"post\" class=\"stack\">
<input type=\"hidden\" name=\"token\" value=\"$token\">
<label for=\"name\">Name</label><input id=\"name\" name=\"name\" maxlength=\"60\" required value=\"[ns_quotehtml $name]\">
<label for=\"message\">Message</label><input id=\"message\" name=\"message\" maxlength=\"500\" required value=\"[ns_quotehtml $message]\">
<button>Sign</button>
</form>
<ul class=\"entries\">$entries</ul>" $cost $manual
