# SPDX-License-Identifier: MPL-2.0
# Who has an account shows the password, and goes on where a page asked for it.

page::contract {{return line /} {name line ""} {password text ""}}
# A page of ours, and no other.
if {![regexp {^/($|[^/\\])} $return]} { set return / }
set title [_ nav.login]
set problem ""
if {[ns_conn method] eq "POST"} {
    set id [account::authenticate $name $password]
    if {$id ne ""} {
        session::begin $id
        ns_setcookie -path / -expires 365d -- name [account::name $id]
        page::redirect $return
    }
    set problem [_ account.wrong]
} else {
    set name [ns_getcookie name ""]
}
