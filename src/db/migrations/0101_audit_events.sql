-- Acts of which a record is kept, newest last. `details` never holds a secret.
create table audit_events (
  id bigint generated always as identity primary key,
  author_id bigint references users on delete set null,
  entity_type text not null,
  entity_id bigint not null,
  event_type text not null,
  details jsonb not null,
  created_at timestamptz not null default now()
);
create index audit_events_entity on audit_events (entity_type, entity_id, id);
