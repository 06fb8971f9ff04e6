-- Whether a project collects errors; no row until somebody sets it.
create table error_tracking_settings (
  project_id bigint primary key references projects on delete cascade,
  active boolean not null,
  integrated boolean not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- The keys that SDKs send with each event. A key is found by its digest and shown again from `sealed`.
create table error_tracking_client_keys (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  digest bytea not null,
  sealed bytea not null,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint error_tracking_client_keys_digest_key unique (digest)
);
create index error_tracking_client_keys_project on error_tracking_client_keys (project_id, id);
