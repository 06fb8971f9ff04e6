-- Where projects stood before they, or a group around them, were renamed or moved: whoever asks there is led on, until
-- another project stands there.
create table moved_projects (
  path text primary key,
  project_id bigint not null references projects on delete cascade
);
create index moved_projects_project_id on moved_projects (project_id);
create function free_project_address() returns trigger language plpgsql as $$
begin
  delete from moved_projects where path = lower(new.full_path);
  return null;
end $$;
create function keep_moved_project() returns trigger language plpgsql as $$
begin
  delete from moved_projects where path = lower(new.full_path);
  insert into moved_projects (path, project_id) values (lower(old.full_path), new.id)
  on conflict (path) do update set project_id = excluded.project_id;
  return null;
end $$;
create trigger free_address after insert on projects for each row execute function free_project_address();
create trigger keep_moved after update of full_path on projects
  for each row when (lower(old.full_path) <> lower(new.full_path)) execute function keep_moved_project();
