# SPDX-License-Identifier: MPL-2.0
# Mail about new posts in a topic, or no more.

permission::requireMember
page::contract {{id integer} {on flag}}
if {[dict get [board::topic $id] board_id] != [dict get [conn node] board_id]} page::notFound
if {$on} { board::subscribe $id [conn account_id] } else { board::unsubscribe $id [conn account_id] }
page::redirect [dict get [conn node] url]/topic?id=$id
