-- Bytes of artifacts and logs count for the storage of their project, as those of packages do.
create function count_job_artifacts() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    insert into project_storage as s (project_id, artifacts_size) values (new.project_id, new.size)
      on conflict (project_id) do update set artifacts_size = s.artifacts_size + excluded.artifacts_size;
  end if;
  if tg_op <> 'INSERT' then
    update project_storage set artifacts_size = artifacts_size - old.size where project_id = old.project_id;
  end if;
  return null;
end $$;
create trigger count_job_artifacts after insert or delete or update of size on ci_job_artifacts
  for each row execute function count_job_artifacts();

create function count_job_logs() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into project_storage as s (project_id, artifacts_size) values (new.project_id, new.trace_size - old.trace_size)
      on conflict (project_id) do update set artifacts_size = s.artifacts_size + excluded.artifacts_size;
  else
    update project_storage set artifacts_size = artifacts_size - old.trace_size where project_id = old.project_id;
  end if;
  return null;
end $$;
create trigger count_changed_logs after update of trace_size on ci_jobs
  for each row when (new.trace_size <> old.trace_size) execute function count_job_logs();
create trigger count_removed_logs after delete on ci_jobs
  for each row when (old.trace_size > 0) execute function count_job_logs();

-- Artifacts from before this count: logs have no size yet.
insert into project_storage as s (project_id, artifacts_size)
select project_id, sum(size) from ci_job_artifacts group by project_id
on conflict (project_id) do update set artifacts_size = excluded.artifacts_size;
