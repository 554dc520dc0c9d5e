# SPDX-License-Identifier: MPL-2.0
# A post in a topic that is there.

page::contract {{id integer} {body text}}
set boardId [dict get [conn node] board_id]
permission::require write $boardId
if {[dict get [board::topic $id] board_id] != $boardId} page::notFound
set post [board::addPost $boardId $id [conn account_id] $body]
page::redirect [dict get [conn node] url]/topic?id=$id#post-$post
