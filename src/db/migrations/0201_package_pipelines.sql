-- The pipelines whose jobs published files of a package.
create table package_pipelines (
  package_id bigint not null references packages on delete cascade,
  pipeline_id bigint not null references pipelines on delete cascade,
  primary key (package_id, pipeline_id)
);
create index package_pipelines_pipeline on package_pipelines (pipeline_id);
