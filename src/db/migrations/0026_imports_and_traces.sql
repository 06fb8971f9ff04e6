-- Imports that are under way; which of them nobody works on any more shows by when they were last heard of.
create index project_imports_open on project_imports (updated_at) where status in ('scheduled', 'started');
