# SPDX-License-Identifier: MPL-2.0
# A new topic: its form, and what the form sends.

set boardId [dict get [conn node] board_id]
set url [dict get [conn node] url]
permission::require write $boardId
if {[ns_conn method] eq "POST"} {
    page::contract {{title line} {body text}}
    set id [board::addTopic $boardId [conn account_id] $title $body]
    page::redirect $url/topic?id=$id
}
set title [_ board.new]
