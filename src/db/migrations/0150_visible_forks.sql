-- Counts of forks depend on the viewer: they are computed per request.
alter table projects drop column forks_count;
create index projects_visible_forks on projects (forked_from_project_id, visibility) include (namespace_id)
  where forked_from_project_id is not null;
