-- SPDX-License-Identifier: MPL-2.0
create table note (
    id       bigint generated always as identity primary key,
    author   text not null,
    text     text not null,
    machine  text not null,
    written  timestamptz not null default now()
);
