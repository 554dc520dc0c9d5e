# SPDX-License-Identifier: MPL-2.0
# nsstats.tcl --
#
#       What the process does: requests, pools, threads, locks, logs and more.  The
#       module of scripts `nsstats` does the work; without it, or without `enabled`
#       in section ns/module/nsstats, this page is not there.

if {[namespace which nsstats::answer] eq ""} {
    ns_returnnotfound
} else {
    nsstats::answer
}
