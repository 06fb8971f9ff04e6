-- Steps that a job has committed, until the job is done: a job whose process died runs again without them.
create table job_steps (
  job_id bigint not null,
  step text not null,
  primary key (job_id, step)
);
