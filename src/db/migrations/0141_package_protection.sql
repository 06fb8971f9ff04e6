create table package_protection_rules (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  package_name_pattern text not null check (length(package_name_pattern) between 1 and 255),
  package_type text not null,
  minimum_access_level_for_push text not null
    check (minimum_access_level_for_push in ('maintainer', 'owner', 'admin')),
  minimum_access_level_for_delete text check (minimum_access_level_for_delete in ('maintainer', 'owner', 'admin')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint package_protection_rules_pattern_key unique (project_id, package_type, package_name_pattern)
);
