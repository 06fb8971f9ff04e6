-- Groups are listed as projects are: by visibility in every order, and by likeness.
drop index groups_name;
drop index groups_path;
drop index groups_root_name;
create index groups_id on namespaces (id) include (visibility) where kind = 'group';
create index groups_visibility_name on namespaces (visibility, name, id) where kind = 'group';
create index groups_visibility_path on namespaces (visibility, path, id) where kind = 'group';
-- Of those that are as like, the ones at the top stand before the others.
create index groups_top_called on namespaces (lower(name) collate "C", id) where kind = 'group' and parent_id is null;
create index groups_top_at on namespaces (lower(path) collate "C", id) where kind = 'group' and parent_id is null;
create index groups_called on namespaces (lower(name) collate "C", id) where kind = 'group' and parent_id is not null;
create index groups_at on namespaces (lower(path) collate "C", id) where kind = 'group' and parent_id is not null;
-- What stands in a place, and is called so, is counted without a look at the rows: an index that holds what it is built of, too, is enough.
drop index groups_places;
create index groups_places on namespaces (lower(full_path) collate "C")
  include (id, name, path, visibility, traversal_ids, full_path) where kind = 'group';
