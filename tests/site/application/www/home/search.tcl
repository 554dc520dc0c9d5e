# SPDX-License-Identifier: MPL-2.0
# Posts with some words in them or in their topic's title.

page::contract {{q line ""}}
set title [_ nav.search]
set posts [expr {$q eq "" ? {} : [board::search $q]}]
