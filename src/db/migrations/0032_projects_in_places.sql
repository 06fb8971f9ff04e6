-- The projects in a place are counted without a look at the rows: an index that holds what it is built of, too, is enough.
drop index projects_namespace_id;
create index projects_namespace_id on projects (namespace_id, id) include (visibility, archived);
drop index projects_places;
create index projects_places on projects (lower(full_path) collate "C")
  include (id, namespace_id, visibility, archived, full_path);
