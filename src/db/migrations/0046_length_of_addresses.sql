-- An entry of groups_places holds an address twice and must fit. What is longer already stays as it is: a constraint would
-- refuse every other change of it too.
create function refuse_long_address() returns trigger language plpgsql as $$
begin
  raise check_violation using constraint = 'namespaces_full_path_fits', message = 'an address is too long';
end $$;
create trigger namespaces_full_path_fits before insert or update of full_path on namespaces
  for each row when (length(new.full_path) > 500) execute function refuse_long_address();
