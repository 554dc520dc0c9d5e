# SPDX-License-Identifier: MPL-2.0
# What members can change about themselves.

permission::requireMember
set title [_ nav.settings]
set problem ""
set isSaved 0
set email [dict get [conn account] email]
set locale [dict get [conn account] locale]
if {[ns_conn method] eq "POST"} {
    page::contract {{email line ""} {locale line en}}
    if {![regexp {^[^\s@<>,;"]+@[^\s@<>,;"]+$} $email]} {
        set problem [_ account.bademail]
    } elseif {$locale in [i18n::locales]} {
        account::update [conn account_id] $email $locale
        set isSaved 1
    }
}
