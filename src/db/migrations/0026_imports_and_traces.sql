-- Imports that are under way; which of them nobody works on any more shows by when they were last heard of.
create index project_imports_open on project_imports (updated_at) where status in ('scheduled', 'started');

-- What names a row that goes is found without reading all of it: one look for each row that goes.
create index epics_parent_id_ref on epics (parent_id) where parent_id is not null;
create index issues_moved_to_id_ref on issues (moved_to_id) where moved_to_id is not null;
create index resource_iteration_events_iteration_id_ref on resource_iteration_events (iteration_id) where iteration_id is not null;
create index label_priorities_label_id_ref on label_priorities (label_id) where label_id is not null;
create index resource_label_events_label_id_ref on resource_label_events (label_id) where label_id is not null;
create index member_promotions_namespace_id_ref on member_promotions (namespace_id) where namespace_id is not null;
create index todos_group_id_ref on todos (group_id) where group_id is not null;
create index todos_note_id_ref on todos (note_id) where note_id is not null;
create index member_promotions_project_id_ref on member_promotions (project_id) where project_id is not null;
create index todos_project_id_ref on todos (project_id) where project_id is not null;
create index award_emoji_user_id_ref on award_emoji (user_id) where user_id is not null;
create index commit_keys_user_id_ref on commit_keys (user_id) where user_id is not null;
create index commit_statuses_author_id_ref on commit_statuses (author_id) where author_id is not null;
create index epics_author_id_ref on epics (author_id) where author_id is not null;
create index epics_closed_by_id_ref on epics (closed_by_id) where closed_by_id is not null;
create index invitations_created_by_id_ref on invitations (created_by_id) where created_by_id is not null;
create index issues_closed_by_id_ref on issues (closed_by_id) where closed_by_id is not null;
create index label_subscriptions_user_id_ref on label_subscriptions (user_id) where user_id is not null;
create index member_promotions_requested_by_id_ref on member_promotions (requested_by_id) where requested_by_id is not null;
create index member_promotions_user_id_ref on member_promotions (user_id) where user_id is not null;
create index members_created_by_id_ref on members (created_by_id) where created_by_id is not null;
create index merge_request_approvals_user_id_ref on merge_request_approvals (user_id) where user_id is not null;
create index merge_request_merges_user_id_ref on merge_request_merges (user_id) where user_id is not null;
create index merge_requests_closed_by_id_ref on merge_requests (closed_by_id) where closed_by_id is not null;
create index merge_requests_merged_by_id_ref on merge_requests (merged_by_id) where merged_by_id is not null;
create index noteable_subscriptions_user_id_ref on noteable_subscriptions (user_id) where user_id is not null;
create index notes_author_id_ref on notes (author_id) where author_id is not null;
create index notes_resolved_by_id_ref on notes (resolved_by_id) where resolved_by_id is not null;
create index pipelines_user_id_ref on pipelines (user_id) where user_id is not null;
create index projects_creator_id_ref on projects (creator_id) where creator_id is not null;
create index resource_iteration_events_user_id_ref on resource_iteration_events (user_id) where user_id is not null;
create index resource_label_events_user_id_ref on resource_label_events (user_id) where user_id is not null;
create index resource_milestone_events_user_id_ref on resource_milestone_events (user_id) where user_id is not null;
create index resource_state_events_user_id_ref on resource_state_events (user_id) where user_id is not null;
create index resource_weight_events_user_id_ref on resource_weight_events (user_id) where user_id is not null;
create index snippets_author_id_ref on snippets (author_id) where author_id is not null;
create index todos_author_id_ref on todos (author_id) where author_id is not null;

-- The bot behind the tokens of a group or project that is gone is nobody from then on.
create or replace function end_bot_tokens() returns trigger language plpgsql as $$
begin
  update personal_access_tokens set revoked = true, updated_at = now()
   where user_id = old.user_id and not revoked;
  update users set state = 'blocked' where id = old.user_id and state <> 'blocked';
  return null;
end $$;
