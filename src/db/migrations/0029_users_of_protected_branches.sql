-- A level of a protected branch may be one user's.
alter table protected_branch_levels add column user_id bigint references users on delete cascade;
do $$
declare
  old text := (select conname from pg_constraint where conrelid = 'protected_branch_levels'::regclass and contype = 'u');
begin
  execute format('alter table protected_branch_levels drop constraint %I', old);
end $$;
create unique index protected_branch_levels_role on protected_branch_levels (protected_branch_id, action, access_level)
  where user_id is null;
create unique index protected_branch_levels_once on protected_branch_levels (protected_branch_id, action, user_id)
  where user_id is not null;
create index protected_branch_levels_user on protected_branch_levels (user_id) where user_id is not null;
