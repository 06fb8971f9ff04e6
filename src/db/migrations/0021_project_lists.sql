-- Everything below a group is one range of addresses, whatever the collation: lists are counted there without a look at
-- the rows, and what a caller belongs to is a few such ranges.
create index projects_places on projects (lower(full_path) collate "C") include (id, namespace_id, visibility, archived);
create index groups_places on namespaces (lower(full_path) collate "C") include (id, name, visibility, traversal_ids)
  where kind = 'group';
drop index projects_visibility_id;
create index projects_visibility_id on projects (visibility, id) include (archived, namespace_id);
-- By similarity: what is called so, then what begins so, each in the order of names.
create index projects_called on projects (lower(name) collate "C", id);
create index projects_at on projects (lower(path) collate "C", id);
