-- The projects of a namespace stand in their orders by whom they are shown to: who sees few of many reads those alone.
drop index projects_namespace_created_at;
drop index projects_namespace_updated_at;
drop index projects_namespace_last_activity_at;
drop index projects_namespace_star_count;
drop index projects_namespace_name;
drop index projects_namespace_path;
drop index projects_namespace_id;
create index projects_namespace_created_at on projects (namespace_id, visibility, created_at, id) include (archived);
create index projects_namespace_updated_at on projects (namespace_id, visibility, updated_at, id) include (archived);
create index projects_namespace_last_activity_at on projects (namespace_id, visibility, last_activity_at, id)
  include (archived);
create index projects_namespace_star_count on projects (namespace_id, visibility, star_count, id) include (archived);
create index projects_namespace_name on projects (namespace_id, visibility, name, id) include (archived);
create index projects_namespace_path on projects (namespace_id, visibility, path, id) include (archived);
create index projects_namespace_id on projects (namespace_id, visibility, id) include (archived, repository_size);
-- What is archived below a group, and the groups below one in the order of their ids and names, without a look at others.
create index projects_archived_places on projects (lower(full_path) collate "C")
  include (id, namespace_id, visibility, full_path) where archived;
drop index groups_parent_id;
create index groups_parent_id on namespaces (parent_id, id) include (visibility) where kind = 'group';
create index groups_tree_name on namespaces ((traversal_ids[1]), name, id) include (visibility, traversal_ids)
  where kind = 'group';
