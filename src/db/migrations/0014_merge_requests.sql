-- What a merge request compares now, and whether it can be merged as far as that was looked at: a list asks no git.
alter table merge_requests
  add column head_sha text,
  add column merge_status text not null default 'unchecked'
    check (merge_status in ('unchecked', 'can_be_merged', 'cannot_be_merged', 'broken')),
  add column merge_error text,
  add column draft boolean not null
    generated always as (title ~* '^\s*(\[draft\]|\(draft\)|draft:|draft\s-\s)') stored,
  add column upvotes integer not null default 0,
  add column downvotes integer not null default 0;
-- Two requests of one branch into the same other one are never open at once.
create unique index merge_requests_open_key
  on merge_requests (source_project_id, source_branch, project_id, target_branch) where state = 'opened';
create index merge_requests_target on merge_requests (project_id, target_branch) where state = 'opened';
create index merge_requests_source_project on merge_requests (source_project_id);
create index merge_requests_created_at on merge_requests (created_at, id);
create index merge_requests_updated_at on merge_requests (updated_at, id);
create index merge_requests_project_title on merge_requests (project_id, title, id);
create index merge_requests_project_merged_at on merge_requests (project_id, merged_at, id);
create index merge_requests_project_state_updated_at on merge_requests (project_id, state, updated_at, id);
create index merge_requests_project_source_branch on merge_requests (project_id, source_branch);
create index merge_requests_head on merge_requests (project_id, head_sha);
create index merge_requests_merge_commit on merge_requests (project_id, merge_commit_sha)
  where merge_commit_sha is not null;
create index merge_requests_squash_commit on merge_requests (project_id, squash_commit_sha)
  where squash_commit_sha is not null;
alter table merge_request_diffs add column changes_count text not null default '0';

-- The commits that a merge request ever brought, so that a commit finds its merge requests.
create table merge_request_commits (
  sha text not null,
  merge_request_id bigint not null references merge_requests on delete cascade,
  primary key (sha, merge_request_id)
);
create index merge_request_commits_merge_request on merge_request_commits (merge_request_id);
-- Merges that are about to move the target branch: git goes first, and what a crash leaves is finished from the one
-- whose commit is there. Several processes may try at once.
create table merge_request_merges (
  merge_request_id bigint not null references merge_requests on delete cascade,
  -- What the target branch moves to.
  commit_sha text not null,
  merge_commit_sha text,
  squash_commit_sha text,
  user_id bigint references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (merge_request_id, commit_sha)
);
create table merge_request_approvals (
  merge_request_id bigint not null references merge_requests on delete cascade,
  user_id bigint not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (merge_request_id, user_id)
);
create index if not exists labels_title on labels (title);
-- Whether a thread waits for an answer.
create index notes_unresolved on notes (noteable_id) where type is not null and resolved_at is null;

-- Votes are counted as they are given: a list is ordered by them.
create function count_merge_request_votes() returns trigger language plpgsql as $$
declare
  vote award_emoji := coalesce(new, old);
  step integer := case when tg_op = 'INSERT' then 1 else -1 end;
begin
  update merge_requests
     set upvotes = upvotes + case when vote.name = 'thumbsup' then step else 0 end,
         downvotes = downvotes + case when vote.name = 'thumbsdown' then step else 0 end
   where id = vote.noteable_id;
  return null;
end $$;
create trigger count_new_merge_request_votes after insert on award_emoji for each row
  when (new.noteable_id is not null and new.name in ('thumbsup', 'thumbsdown'))
  execute function count_merge_request_votes();
create trigger count_gone_merge_request_votes after delete on award_emoji for each row
  when (old.noteable_id is not null and old.name in ('thumbsup', 'thumbsdown'))
  execute function count_merge_request_votes();
