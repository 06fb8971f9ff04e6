-- Senders of alerts. The key is kept as a digest; the endpoint identifier never changes.
create table alert_integrations (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  name text not null,
  type text not null check (type in ('http', 'prometheus')),
  endpoint_identifier text not null check (endpoint_identifier ~ '^([A-Za-z0-9]+|legacy-prometheus)$'),
  active boolean not null default true,
  key_digest bytea not null,
  mapping jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint alert_integrations_endpoint_key unique (project_id, endpoint_identifier)
);

-- What a project does with its alerts; no row until somebody sets it.
create table alert_settings (
  project_id bigint primary key references projects on delete cascade,
  create_incidents boolean not null default false,
  auto_close_incidents boolean not null default true,
  incident_template text
);

-- `payload` is what was sent, as it was sent: `json` keeps what `jsonb` would change or refuse.
create table alerts (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  iid bigint not null,
  integration_id bigint references alert_integrations on delete set null,
  issue_id bigint references issues on delete set null,
  title text not null check (char_length(title) <= 200),
  description text check (char_length(description) <= 1000),
  service text check (char_length(service) <= 100),
  monitoring_tool text check (char_length(monitoring_tool) <= 100),
  hosts text[] not null default '{}',
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info', 'unknown')),
  status text not null default 'triggered' check (status in ('triggered', 'acknowledged', 'resolved', 'ignored')),
  environment text,
  fingerprint bytea,
  events bigint not null default 1,
  started_at timestamptz not null,
  ended_at timestamptz,
  payload json not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint alerts_iid_key unique (project_id, iid)
);
-- One unresolved alert per fingerprint, under any concurrency.
create unique index alerts_unresolved on alerts (project_id, fingerprint) where status <> 'resolved';
create index alerts_started on alerts (project_id, started_at desc, id desc);
create index alerts_issue on alerts (issue_id) where issue_id is not null;
create index alerts_integration on alerts (integration_id);
