-- Pushes whose jobs were asked for. A push that is kept on disk may be told again: after a lost answer, or by two processes.
create table told_pushes (
  id uuid primary key,
  told_at timestamptz not null default now()
);
create index told_pushes_age on told_pushes (told_at);
