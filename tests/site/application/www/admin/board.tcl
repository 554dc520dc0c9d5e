# SPDX-License-Identifier: MPL-2.0
# A new board.

page::contract {{name line} {about line} {url line} {members flag}}
if {![regexp {^[a-z][a-z0-9-]*$} $url]} { page::badRequest [_ error.field name url] }
if {[sitemap::node /boards/$url] ne [sitemap::node /]} { page::badRequest [_ error.field name url] }
board::create $name $about /boards/$url [expr {$members ? "members" : "open"}]
page::redirect /boards/$url
