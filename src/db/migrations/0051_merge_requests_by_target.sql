-- Most projects have a few branches that many merge requests aim at, whatever became of them.
create index merge_requests_project_target on merge_requests (project_id, target_branch, created_at, id) include (state);
