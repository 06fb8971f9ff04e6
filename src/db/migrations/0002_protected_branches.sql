-- A branch, or by wildcards many, into which only some may push and merge.
create table protected_branches (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  name text not null check (name <> ''),
  allow_force_push boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint protected_branches_name_key unique (project_id, name)
);

-- Who may: of several levels for one action the lowest decides, where 0 lets nobody in and 60 administrators only.
create table protected_branch_levels (
  id bigint generated always as identity primary key,
  protected_branch_id bigint not null references protected_branches on delete cascade,
  action text not null check (action in ('push', 'merge', 'unprotect')),
  access_level smallint not null check (access_level in (0, 30, 40, 60)),
  unique (protected_branch_id, action, access_level)
);
