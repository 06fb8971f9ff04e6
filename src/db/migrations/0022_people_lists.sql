-- People and the namespaces of people are found by any part of their names; the few of a kind are listed by themselves.
create index users_name_trigrams on users using gin (name gin_trgm_ops);
create index users_username_trigrams on users using gin (username gin_trgm_ops);
create index users_inactive on users (state, id) where state <> 'active';
create index users_external on users (id) where external;
create index users_admins on users (id) where admin;
create index users_not_human on users (id) where user_type <> 'human';
create index homes_name_trigrams on namespaces using gin (name gin_trgm_ops) where kind = 'user';
create index homes_path_trigrams on namespaces using gin (path gin_trgm_ops) where kind = 'user';

-- Groups below a group, in order and counted without a look at the rows.
create index groups_parent_name on namespaces (parent_id, name, id) include (visibility) where kind = 'group';
drop index groups_root_name;
create index groups_root_name on namespaces ((traversal_ids[1]), name, id) include (traversal_ids, visibility)
  where kind = 'group';
create index groups_top_name on namespaces (name, id) include (visibility) where kind = 'group' and parent_id is null;
