# SPDX-License-Identifier: MPL-2.0
# A new key signs cookies from now on; those that the others have signed stay good.

if {[ns_conn method] eq "POST"} { session::rotateKeys 1 }
page::redirect /admin
