-- What has a longer address from before stays as it is: the constraint refused every other change of it too.
alter table namespaces drop constraint if exists namespaces_full_path_fits;
drop trigger if exists namespaces_full_path_fits on namespaces;
create or replace function refuse_long_address() returns trigger language plpgsql as $$
begin
  raise check_violation using constraint = 'namespaces_full_path_fits', message = 'an address is too long';
end $$;
create trigger namespaces_full_path_fits before insert or update of full_path on namespaces
  for each row when (length(new.full_path) > 500) execute function refuse_long_address();
