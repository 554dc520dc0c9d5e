# SPDX-License-Identifier: MPL-2.0
# Server-sent events about new posts.

news::listen
