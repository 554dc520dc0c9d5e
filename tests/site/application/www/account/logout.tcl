# SPDX-License-Identifier: MPL-2.0
# The session ends, here and for whoever has a copy of its cookie.

if {[ns_conn method] eq "POST" && [conn account_id]} { session::end }
page::redirect /
