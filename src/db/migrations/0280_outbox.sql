-- One row for each thing that happened, written in the transaction that did it. Webhooks, lists of events and the event
-- stream are read from here. Records are named by id without foreign keys: rows tell of deleted records too.
create table events (
  id bigint generated always as identity primary key,
  -- Order of delivery, given by the relay after the commit; null until then.
  seq bigint,
  created_at timestamptz not null default clock_timestamp(),
  kind text not null,
  action text not null,
  -- Word of the published action filter; null for what the lists of events do not show.
  activity text,
  author_id bigint,
  project_id bigint,
  group_id bigint,
  target_type text,
  target_id bigint,
  target_iid bigint,
  -- The record that decides who may see the event.
  noteable_kind text,
  noteable_id bigint,
  internal boolean not null default false,
  -- The flag of webhooks that subscribes to it.
  trigger text,
  data jsonb not null default '{}'
);
create index events_unsent on events (id) where seq is null;
create unique index events_seq on events (seq);
create index events_project on events (project_id, created_at, id) where activity is not null;
create index events_author on events (author_id, created_at, id) where activity is not null;
create index events_activity on events (created_at, id) where activity is not null;
create sequence events_order;
