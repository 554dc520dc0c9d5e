# SPDX-License-Identifier: MPL-2.0
# Somebody thanks for a post.

permission::requireMember
page::contract {{id integer}}
set topic [board::thank $id [conn account_id]]
page::redirect [dict get [conn node] url]/topic?id=$topic#post-$id
