-- Merge requests that are merged when their head pipeline succeeds, in the name of the user who asked. The row ends with
-- the merge, with its cancellation, and with any change that gives it up.
create table auto_merges (
  id bigint generated always as identity primary key,
  merge_request_id bigint not null unique references merge_requests on delete cascade,
  user_id bigint references users on delete set null,
  -- What is merged: the head that the user saw.
  head_sha text not null,
  squash boolean,
  should_remove_source_branch boolean,
  merge_commit_message text,
  squash_commit_message text,
  created_at timestamptz not null default now()
);
create index auto_merges_head on auto_merges (head_sha);
create index auto_merges_user on auto_merges (user_id) where user_id is not null;
