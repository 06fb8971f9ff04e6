alter table ci_job_artifacts
  add constraint ci_job_artifacts_sha256_fkey foreign key (sha256) references blobs (sha256);
create index ci_job_artifacts_sha256 on ci_job_artifacts (sha256);
