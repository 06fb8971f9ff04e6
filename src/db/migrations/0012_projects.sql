create extension if not exists pg_trgm;

alter table projects
  add column forked_from_project_id bigint references projects on delete set null,
  -- False from the first branch on.
  add column empty_repo boolean not null default true;
update projects p set empty_repo = false
 where exists (select from protected_branches b where b.project_id = p.id) or p.last_activity_at > p.created_at;
create index projects_forked_from on projects (forked_from_project_id, created_at, id)
  where forked_from_project_id is not null;

-- Two projects of one namespace do not bear one name, as published.
update projects p set name = p.name || ' (' || p.id || ')'
 where exists (select from projects o where o.namespace_id = p.namespace_id and o.name = p.name and o.id < p.id);
create unique index projects_name_key on projects (namespace_id, name);

-- A page in any order, of everything, of what is open to a caller, or of the namespaces that a caller belongs to.
create index projects_visibility_id on projects (visibility, id);
create index projects_visibility_name on projects (visibility, name, id);
create index projects_visibility_path on projects (visibility, path, id);
create index projects_visibility_created_at on projects (visibility, created_at, id);
create index projects_visibility_updated_at on projects (visibility, updated_at, id);
create index projects_visibility_last_activity_at on projects (visibility, last_activity_at, id);
create index projects_visibility_star_count on projects (visibility, star_count, id);
create index projects_archived on projects (visibility, created_at, id) where archived;
create index projects_namespace_id on projects (namespace_id, id);
create index projects_namespace_path on projects (namespace_id, path, id);
create index projects_namespace_updated_at on projects (namespace_id, updated_at, id);
create index projects_namespace_last_activity_at on projects (namespace_id, last_activity_at, id);
create index projects_namespace_star_count on projects (namespace_id, star_count, id);
create index projects_name_trigrams on projects using gin (name gin_trgm_ops);
create index projects_full_path_trigrams on projects using gin (full_path gin_trgm_ops);
create index projects_description_trigrams on projects using gin (description gin_trgm_ops);
create index projects_topics on projects using gin (topics);
create index project_stars_project on project_stars (project_id);

-- How a project's repository is filled from elsewhere; `source` is sealed, for it may hold a password, and goes when all is done.
create table project_imports (
  project_id bigint primary key references projects on delete cascade,
  status text not null default 'scheduled' check (status in ('scheduled', 'started', 'finished', 'failed')),
  kind text not null check (kind in ('url', 'fork')),
  url text,
  source bytea,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
