-- What somebody reacted to, and what an epic or an iteration holds, is found and counted without a look at the issues.
create index award_emoji_user on award_emoji (user_id, name, noteable_id) where noteable_id is not null;
drop index issues_epic;
create index issues_epic on issues (epic_id, project_id, created_at, id) include (state, confidential)
  where epic_id is not null;
drop index issues_iteration;
create index issues_iteration on issues (iteration_id, project_id, created_at, id) include (state, confidential)
  where iteration_id is not null;
