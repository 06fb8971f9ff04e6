-- Findings of security scanners. A finding keeps its row from report to report by its fingerprint.
create table vulnerabilities (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  report_type text not null,
  scanner text not null,
  scanner_name text not null,
  fingerprint bytea not null,
  name text not null,
  description text not null default '',
  solution text not null default '',
  severity text not null check (severity in ('info', 'unknown', 'low', 'medium', 'high', 'critical')),
  state text not null default 'detected' check (state in ('detected', 'confirmed', 'dismissed', 'resolved')),
  dismissal_reason text check (dismissal_reason is null or state = 'dismissed'),
  identifiers jsonb not null,
  location jsonb not null,
  cvss_vectors text[] not null default '{}',
  -- Set while the latest report of the scanner does not name the finding.
  gone_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint vulnerabilities_fingerprint_key unique (project_id, report_type, scanner, fingerprint)
);
-- In the order in which they are listed and exported.
create index vulnerabilities_project on vulnerabilities (project_id, id);

-- Every change of state, with its author; no author where a report made it.
create table vulnerability_transitions (
  id bigint generated always as identity primary key,
  vulnerability_id bigint not null references vulnerabilities on delete cascade,
  author_id bigint references users on delete set null,
  from_state text not null,
  to_state text not null,
  dismissal_reason text,
  comment text not null default '',
  created_at timestamptz not null default now()
);
create index vulnerability_transitions_vulnerability on vulnerability_transitions (vulnerability_id, id);
create index vulnerability_transitions_author on vulnerability_transitions (author_id);

-- The projects on a user's security dashboard: an export of the instance covers them.
create table security_dashboard_projects (
  user_id bigint not null references users on delete cascade,
  project_id bigint not null references projects on delete cascade,
  created_at timestamptz not null default now(),
  primary key (user_id, project_id)
);
create index security_dashboard_projects_project on security_dashboard_projects (project_id);
