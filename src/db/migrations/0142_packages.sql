create table packages (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  package_type text not null,
  name text not null,
  -- The form under which all spellings of the name are one.
  canonical_name text not null,
  version text,
  status text not null default 'default'
    check (status in ('default', 'hidden', 'processing', 'error', 'pending_destruction', 'deprecated')),
  -- What the registry of its type answers about it: the manifest of npm, the description of PyPI.
  metadata jsonb not null default '{}',
  -- Set where a version may exist once below a root namespace: npm packages whose scope is its path.
  unique_below bigint references namespaces on delete set null,
  creator_id bigint references users on delete set null,
  last_downloaded_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index packages_version_key on packages (project_id, package_type, name, coalesce(version, ''));
create unique index packages_root_key on packages (unique_below, package_type, name, version)
  where unique_below is not null;
create index packages_created_at on packages (project_id, created_at, id);
create index packages_canonical_name on packages (package_type, canonical_name, project_id);

create table package_files (
  id bigint generated always as identity primary key,
  package_id bigint not null references packages on delete cascade,
  project_id bigint not null,
  file_name text not null,
  size bigint not null,
  file_md5 text,
  file_sha1 text,
  file_sha256 text not null references blobs (sha256),
  -- Set where a package holds a file name once, as PyPI has it.
  is_unique boolean not null default false,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index package_files_name on package_files (package_id, file_name, id);
create unique index package_files_name_key on package_files (package_id, file_name) where is_unique;
create index package_files_sha256 on package_files (file_sha256);

-- The dist-tags of npm: each leads to one version of a package's name in a project.
create table package_tags (
  project_id bigint not null references projects on delete cascade,
  package_name text not null,
  name text not null,
  package_id bigint not null references packages on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, package_name, name)
);
create index package_tags_package on package_tags (package_id);

-- Bytes that a project keeps in the blob store, counted with each file.
create table project_storage (
  project_id bigint primary key references projects on delete cascade,
  packages_size bigint not null default 0,
  artifacts_size bigint not null default 0
);
create function count_package_files() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into project_storage as s (project_id, packages_size) values (new.project_id, new.size)
      on conflict (project_id) do update set packages_size = s.packages_size + excluded.packages_size;
  else
    update project_storage set packages_size = packages_size - old.size where project_id = old.project_id;
  end if;
  return null;
end $$;
create trigger count_package_files after insert or delete on package_files
  for each row execute function count_package_files();
