# SPDX-License-Identifier: MPL-2.0
# The boards that the visitor may read, and the boxes beside them.

set title [site::title]
set boards [board::readable]
