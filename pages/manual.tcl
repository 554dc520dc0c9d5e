# SPDX-License-Identifier: MPL-2.0
# manual.tcl --
#
#       A page of the manual, manual.tcl?page=NAME, or what is found in it,
#       manual.tcl?find=WORDS.

set directory [welcome::manualDirectory]
set status 200
if {[ns_queryexists find]} {
    set title Search
    set content [manual::results $directory [string range [ns_queryget find] 0 200] welcome::manualUrl]
} else {
    set title [ns_queryget page README]
    set content [manual::article $directory $title welcome::manualUrl]
    if {$content eq ""} {
        set status 404
        set content "<h1>No such page</h1>\n<p>The manual has no page “[ns_quotehtml $title]”.</p>\n[manual::searchForm \
            welcome::manualUrl ""]"
    }
}
ns_return $status text/html "[welcome::top "Manual: $title"]$content[welcome::bottom]"
