# SPDX-License-Identifier: MPL-2.0
# A topic with its posts, and a form to reply.

page::contract {{id integer}}
set boardId [dict get [conn node] board_id]
set url [dict get [conn node] url]
set topic [board::topic $id]
if {[dict get $topic board_id] != $boardId} page::notFound
set title [dict get $topic title]
set posts [board::posts $id]
set mayWrite [permission::has write $boardId]
set isSubscribed [expr {[conn account_id] && [board::isSubscribed $id [conn account_id]]}]
if {[ns_conn method] eq "GET"} { board::countView $id }
