-- Lists of merge requests are walked along an index in every order but those of milestones and labels.
create index merge_requests_project_upvotes on merge_requests (project_id, upvotes, id);
create index merge_requests_project_merged_at_last on merge_requests (project_id, merged_at desc nulls last, id desc);
drop index merge_requests_author;
create index merge_requests_project_author on merge_requests (project_id, author_id, created_at, id) include (state);
create index merge_requests_author on merge_requests (author_id, created_at, id) include (state);
-- What the service itself wrote is rare among what people say.
create index notes_activity on notes (noteable_id, created_at, id) where type is null and system_action is not null;
-- Issues of all projects are listed by their last change too.
create index issues_updated_at on issues (updated_at, id);
-- Words are found by three letters at a time, where the server has the extension.
do $$
begin
  create extension if not exists pg_trgm;
  create index merge_requests_title_words on merge_requests using gin (title gin_trgm_ops);
  create index merge_requests_description_words on merge_requests using gin (left(description, 8000) gin_trgm_ops);
exception when undefined_file or insufficient_privilege or feature_not_supported then
  raise notice 'merge requests are searched without an index: %', sqlerrm;
end $$;
