-- One row per kind of error: events with one fingerprint.
create table errors (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  fingerprint bytea not null,
  name text not null,
  description text not null,
  actor text not null,
  platform text,
  level text not null,
  status text not null default 'unresolved' check (status in ('unresolved', 'resolved', 'ignored')),
  events bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  constraint errors_fingerprint_key unique (project_id, fingerprint)
);
create index errors_last_seen on errors (project_id, last_seen_at desc, id desc);

create table error_releases (
  error_id bigint not null references errors on delete cascade,
  release text not null,
  events bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (error_id, release)
);

-- Users as digests of what an SDK says of them: enough to count the affected ones.
create table error_users (
  error_id bigint not null references errors on delete cascade,
  digest bytea not null,
  primary key (error_id, digest)
);

-- Events as they were sent, in one partition per day: old days are dropped whole, without a scan.
create table error_events (
  error_id bigint not null references errors on delete cascade,
  event_id text not null,
  received_on date not null,
  occurred_at timestamptz not null,
  release text,
  environment text,
  payload json not null
) partition by range (received_on);
create index error_events_error on error_events (error_id, occurred_at desc);
