-- The file at the root of the default branch that tells of the project: null while nobody has looked, '' where there is none.
alter table projects add column readme_path text;
create index projects_without_readme_path on projects (id) where readme_path is null and not empty_repo;
