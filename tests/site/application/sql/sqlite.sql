-- SPDX-License-Identifier: MPL-2.0
-- sqlite.sql --
--
--      The tables, for SQLite.  Times are seconds since 1970.  postgres.sql differs in
--      the types of keys alone.

create table account (
    id         integer primary key,
    name       text not null unique,
    email      text not null,
    password   text not null,                   -- scrypt:COST:SALT:KEY
    locale     text not null default 'en',
    is_admin   integer not null default 0,
    created    integer not null
);

create table signing_key (
    id         integer primary key,
    secret     text not null,
    created    integer not null
);

create table session (
    id         text primary key,
    account_id integer not null references account on delete cascade,
    last_used  integer not null
);

create table board (
    id         integer primary key,
    name       text not null,
    about      text not null,
    n_posts    integer not null default 0,
    created    integer not null
);

-- Which package answers below a URL, and for which object.
create table site_node (
    url        text primary key,
    package    text not null,
    board_id   integer references board on delete cascade
);

-- What a party may do on a board.  A party is 'public', 'members', or an account's id.
create table permission (
    board_id   integer not null references board on delete cascade,
    party      text not null,
    privilege  text not null check (privilege in ('read', 'write', 'moderate')),
    primary key (board_id, party, privilege)
);

create table topic (
    id         integer primary key,
    board_id   integer not null references board on delete cascade,
    account_id integer not null references account,
    title      text not null,
    n_posts    integer not null default 0,
    n_views    integer not null default 0,
    last_post  integer not null,
    created    integer not null
);
create index topic_board on topic (board_id, last_post);

create table post (
    id         integer primary key,
    topic_id   integer not null references topic on delete cascade,
    account_id integer not null references account,
    body       text not null,
    n_thanks   integer not null default 0,
    created    integer not null
);
create index post_topic on post (topic_id, id);

create table thanks (
    post_id    integer not null references post on delete cascade,
    account_id integer not null references account on delete cascade,
    primary key (post_id, account_id)
);

create table attachment (
    id         integer primary key,
    post_id    integer not null references post on delete cascade,
    name       text not null,
    mime_type  text not null,
    bytes      integer not null,
    sha256     text not null,
    path       text not null                    -- Below home/files.
);
create index attachment_post on attachment (post_id);

create table subscription (
    topic_id   integer not null references topic on delete cascade,
    account_id integer not null references account on delete cascade,
    primary key (topic_id, account_id)
);

create table mail (
    id         integer primary key autoincrement,   -- The log speaks of it.
    recipient  text not null,
    subject    text not null,
    body       text not null,
    n_attempts integer not null default 0,
    next_try   integer not null,
    created    integer not null
);

create table chat_message (
    id         integer primary key,             -- In the order in which all have seen them.
    account_id integer not null references account,
    body       text not null,
    created    integer not null
);
