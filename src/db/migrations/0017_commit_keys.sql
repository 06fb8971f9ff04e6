-- Which commit a caller's Idempotency-Key stands for. Written before the branch moves: a key whose commit the branch does
-- not hold stands for nothing.
create table commit_keys (
  project_id bigint not null references projects on delete cascade,
  user_id bigint not null references users on delete cascade,
  key text not null,
  branch text not null,
  sha text not null,
  created_at timestamptz not null default now(),
  primary key (project_id, user_id, key)
);
