-- What other directories call a user.
create table user_identities (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  provider text not null,
  extern_uid text not null,
  constraint user_identities_user_key unique (user_id, provider)
);
create unique index user_identities_extern_uid_key on user_identities (provider, lower(extern_uid));

-- Administrators filter by these.
create index projects_custom_attributes on projects using gin (custom_attributes jsonb_path_ops);
create index namespaces_custom_attributes on namespaces using gin (custom_attributes jsonb_path_ops);
