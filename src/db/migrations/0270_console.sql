-- Passwords as salted digests (see src/access/passwords.ts), and who is signed in to the console.
create table user_passwords (
  user_id bigint primary key references users on delete cascade,
  digest text not null,
  changed_at timestamptz not null default now()
);

create table console_sessions (
  id bigint generated always as identity primary key,
  digest bytea not null unique,
  user_id bigint not null references users on delete cascade,
  -- The token that opened the session; the session ends with it.
  token_id bigint references personal_access_tokens on delete cascade,
  ip text not null,
  user_agent text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now()
);
create index console_sessions_user on console_sessions (user_id);
create index console_sessions_last_used on console_sessions (last_used_at);
create index console_sessions_token on console_sessions (token_id) where token_id is not null;
