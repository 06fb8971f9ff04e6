-- The job that a pipeline was triggered from, by its token or as a bridge.
alter table pipelines add source_job_id bigint references ci_jobs on delete set null;
create index pipelines_source_job on pipelines (source_job_id) where source_job_id is not null;
