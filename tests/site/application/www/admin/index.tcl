# SPDX-License-Identifier: MPL-2.0
# What administrators look after.

set title [_ nav.admin]
set boards [board::all]
set mail [db::rows {select id, recipient, subject, n_attempts, next_try from mail order by id limit 50}]
set nSessions [db::value {select count(*) from session}]
set keys [db::rows {select id, created from signing_key order by id desc}]
