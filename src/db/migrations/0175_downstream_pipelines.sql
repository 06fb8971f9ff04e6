-- A bridge has one downstream pipeline, and a child pipeline one bridge.
drop index ci_jobs_downstream;
create unique index ci_jobs_downstream on ci_jobs (downstream_id) where downstream_id is not null;
create unique index pipelines_bridge on pipelines (source_job_id) where source = 'parent_pipeline';
-- Bridges that wait for a pipeline: to be created, or to end.
create index ci_jobs_bridges on ci_jobs (id)
  where kind = 'bridge' and status in ('pending', 'running', 'canceling', 'manual', 'scheduled');
