# SPDX-License-Identifier: MPL-2.0
# A file of a post, delivered in the background.

page::contract {{id integer}}
set file [file::get $id]
if {[dict get $file board_id] != [dict get [conn node] board_id]} page::notFound
file::send $file
