-- A list is one plain statement: what only the walks of the lists before needed goes.

-- Links to labels, assignees and reactions no longer repeat the columns of their records.
drop trigger know_labelled on label_links;
drop trigger mark_labelled on label_links;
drop trigger mark_unlabelled on label_links;
drop trigger count_new_links on label_links;
drop trigger count_old_links on label_links;
drop trigger count_changed_links on label_links;
drop trigger know_issue on issue_assignees;
drop trigger mark_assigned on issue_assignees;
drop trigger mark_unassigned on issue_assignees;
drop trigger know_reacted on award_emoji;
drop trigger tell_links on issues;
drop trigger tell_author on issues;
drop trigger tell_links on merge_requests;
drop function know_labelled, mark_labelled, mark_unlabelled, count_label_links, know_assigned_issue, mark_assigned,
  mark_unassigned, know_reacted, tell_links, tell_author, tell_label_links, tell_label_ids, count_labels_anew,
  fold_label_counts;
drop table label_counts;

-- The indexes of a column go with it.
alter table label_links
  drop column noteable_kind,
  drop column noteable_project_id,
  drop column noteable_created_at,
  drop column noteable_state,
  drop column noteable_confidential,
  drop column noteable_milestone_id,
  drop column noteable_author_id,
  drop column label_ids;
alter table issue_assignees
  drop column issue_project_id,
  drop column issue_created_at,
  drop column issue_state,
  drop column issue_confidential,
  drop column label_ids;
alter table award_emoji
  drop column noteable_kind,
  drop column noteable_project_id,
  drop column noteable_created_at,
  drop column noteable_state,
  drop column noteable_confidential;
alter table issues drop column labelled, drop column assigned;
alter table merge_requests drop column labelled;
drop index label_links_noteable;
create index label_links_noteable on label_links (noteable_id, label_id);
create index issue_assignees_user on issue_assignees (user_id);
create index award_emoji_user on award_emoji (user_id, name);

-- Common filters and orders keep an index; the others sort what matches.
drop index issues_own_confidential;
drop index issues_project_author;
drop index issues_project_confidential;
drop index issues_project_due_date;
drop index issues_project_due_date_last;
drop index issues_project_title;
drop index issues_project_type;
drop index issues_project_unplanned;
drop index issues_project_upvotes;
drop index issues_project_weight;
drop index issues_project_weight_last;
create index issues_project_created_at on issues (project_id, created_at, id) include (state, confidential);
drop index merge_requests_project_author;
drop index merge_requests_project_merged_at;
drop index merge_requests_project_merged_at_last;
drop index merge_requests_project_state_updated_at;
drop index merge_requests_project_target;
drop index merge_requests_project_title;
drop index merge_requests_project_upvotes;
drop index projects_archived;
drop index projects_archived_places;
drop index projects_at;
drop index projects_called;
drop index projects_places;
drop index projects_forked_from;
drop index projects_visibility_id;
drop index projects_visibility_name;
drop index projects_visibility_path;
drop index projects_visibility_created_at;
drop index projects_visibility_updated_at;
drop index projects_visibility_last_activity_at;
drop index projects_visibility_star_count;
drop index projects_namespace_id;
drop index projects_namespace_name;
drop index projects_namespace_path;
drop index projects_namespace_created_at;
drop index projects_namespace_updated_at;
drop index projects_namespace_last_activity_at;
drop index projects_namespace_star_count;
create index projects_created_at on projects (created_at, id);
create index projects_last_activity_at on projects (last_activity_at, id);
drop index groups_at;
drop index groups_called;
drop index groups_id;
drop index groups_parent_id;
drop index groups_parent_name;
drop index groups_places;
drop index groups_top_at;
drop index groups_top_called;
drop index groups_top_name;
drop index groups_tree_id;
drop index groups_tree_name;
drop index groups_visibility_name;
drop index groups_visibility_path;
create index groups_name on namespaces (name, id) where kind = 'group';
drop index users_by_created_at;
drop index users_by_name;
drop index users_by_updated_at;
drop index users_by_username;
drop index users_external;
drop index users_inactive;
drop index users_not_human;
analyze issues, merge_requests, label_links, issue_assignees, award_emoji;
