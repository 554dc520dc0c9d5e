# SPDX-License-Identifier: MPL-2.0
# A new account.

set title [_ nav.register]
set problem ""
set name ""
set email ""
if {[ns_conn method] eq "POST"} {
    page::contract {{name line ""} {email line ""} {password text ""}}
    if {![regexp {^[[:alnum:]][[:alnum:] .-]{1,39}$} $name]} {
        set problem [_ account.badname]
    } elseif {![regexp {^[^\s@<>,;"]+@[^\s@<>,;"]+$} $email]} {
        set problem [_ account.bademail]
    } elseif {[string length $password] < 8} {
        set problem [_ account.short]
    } else {
        try {
            session::begin [account::create $name $email $password]
            ns_setcookie -path / -expires 365d -- name $name
            page::redirect /
        } trap {COMMONS TAKEN} {} {
            set problem [_ account.taken]
        }
    }
}
