# SPDX-License-Identifier: MPL-2.0
# A visitor chooses a language.

page::contract {{locale line en}}
if {$locale ni [i18n::locales]} page::notFound
ns_setcookie -path / -expires 365d -- locale $locale
if {[conn account_id]} { account::update [conn account_id] [dict get [conn account] email] $locale }
page::redirect /
