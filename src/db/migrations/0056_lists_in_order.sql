-- A walk along the projects of a namespace sees whom each is shown to, and needs not look at those that are not.
drop index projects_namespace_created_at;
drop index projects_namespace_updated_at;
drop index projects_namespace_last_activity_at;
drop index projects_namespace_star_count;
drop index projects_namespace_name;
drop index projects_namespace_path;
create index projects_namespace_created_at on projects (namespace_id, created_at, id) include (visibility, archived);
create index projects_namespace_updated_at on projects (namespace_id, updated_at, id) include (visibility, archived);
create index projects_namespace_last_activity_at on projects (namespace_id, last_activity_at, id)
  include (visibility, archived);
create index projects_namespace_star_count on projects (namespace_id, star_count, id) include (visibility, archived);
create index projects_namespace_name on projects (namespace_id, name, id) include (visibility, archived);
create index projects_namespace_path on projects (namespace_id, path, id) include (visibility, archived);
-- Groups anywhere below a group in the order of their ids: the newest of an instance may all stand in other trees.
create index groups_tree_id on namespaces ((traversal_ids[1]), id) include (visibility, traversal_ids) where kind = 'group';
-- What is somebody's is put in the order of its changes, and what is due soon in that of its age, without a look at it.
drop index issues_project_author;
drop index issues_project_due_date;
create index issues_project_author on issues (project_id, author_id, created_at, id)
  include (state, confidential, updated_at);
create index issues_project_due_date on issues (project_id, due_date, id) include (state, confidential, created_at);
