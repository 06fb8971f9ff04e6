-- An entry of groups_places holds an address twice and must fit. What is longer already stays until it is changed.
alter table namespaces add constraint namespaces_full_path_fits check (length(full_path) <= 500) not valid;
