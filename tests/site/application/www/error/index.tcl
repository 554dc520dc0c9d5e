# SPDX-License-Identifier: MPL-2.0
# What visitors see instead of a page that failed.  The reply has the status already, and
# keeps it.

set status [ns_conn status]
if {$status ni {400 403 404 413 500 503}} page::notFound
set title [_ error.$status]
