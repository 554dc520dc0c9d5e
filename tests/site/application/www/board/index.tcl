# SPDX-License-Identifier: MPL-2.0
# The topics of a board.

page::contract {{page integer 0}}
set boardId [dict get [conn node] board_id]
set url [dict get [conn node] url]
set board [board::get $boardId]
set title [dict get $board name]
set topics [board::topics $boardId $page]
set isLast [expr {[llength $topics] < $::board::pageSize}]
