-- Groups are found by any part of their names and addresses, and listed by name below their top-level group.
create extension if not exists pg_trgm;
create index groups_name_trigrams on namespaces using gin (name gin_trgm_ops) where kind = 'group';
create index groups_path_trigrams on namespaces using gin (path gin_trgm_ops) where kind = 'group';
create index groups_full_path_trigrams on namespaces using gin (full_path gin_trgm_ops) where kind = 'group';
create index groups_root_name on namespaces ((traversal_ids[1]), name, id) where kind = 'group';
