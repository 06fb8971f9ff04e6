-- How many projects somebody may have in the personal namespace holds against many who make them at once.
create function keep_projects_limit() returns trigger language plpgsql as $$
declare
  most integer;
begin
  select u.projects_limit into most from namespaces n join users u on u.id = n.owner_id
   where n.id = new.namespace_id and n.kind = 'user' for no key update of u;
  if most is not null and (select count(*) from (
       select from projects p where p.namespace_id = new.namespace_id limit most) held) >= most then
    raise exception 'the limit of projects is reached' using errcode = 'check_violation', constraint = 'projects_limit';
  end if;
  return new;
end $$;
create trigger keep_limit before insert on projects for each row execute function keep_projects_limit();
