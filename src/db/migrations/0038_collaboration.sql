-- Whether whoever may merge a merge request from a fork may push into its source branch there.
alter table merge_requests add column allow_collaboration boolean not null default false;
