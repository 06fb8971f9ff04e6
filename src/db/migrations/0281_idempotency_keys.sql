-- The first answer to each Idempotency-Key, for 24 hours. The answer is sealed: it may hold a token that is shown once.
create table idempotency_keys (
  caller text not null,
  key text not null,
  fingerprint bytea not null,
  created_at timestamptz not null default now(),
  answer bytea,
  -- Writes that no single transaction surrounds: the lease of the process that runs them, and whether rows were committed.
  held_until timestamptz,
  took_effect boolean not null default false,
  primary key (caller, key)
);
alter table idempotency_keys alter column answer set storage external;
create index idempotency_keys_created_at on idempotency_keys (created_at);
