create table badges (
  id bigint generated always as identity primary key,
  group_id bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  name text,
  link_url text not null,
  image_url text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(group_id, project_id) = 1)
);
create index badges_group on badges (group_id, created_at, id);
create index badges_project on badges (project_id, created_at, id);

-- Which groups a group was invited into, and what was shared with it.
create index group_group_links_shared on group_group_links (shared_group_id, id);
