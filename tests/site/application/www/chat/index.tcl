# SPDX-License-Identifier: MPL-2.0
# The chat room.

permission::requireMember
set title [_ nav.chat]
set messages [chat::recent 50]
set members [chat::members]
