-- A fork is never more visible than the project it comes from: what a private project holds would be public in its fork.
-- Whoever makes a project less visible makes its forks so too.
create function visibility_rank(visibility text) returns int language sql immutable as $$
  select array_position(array['private', 'internal', 'public'], visibility)
$$;
create function check_fork_visibility() returns trigger language plpgsql as $$
declare
  source text;
begin
  -- Locked, so that the source cannot become less visible between this look and the commit.
  select visibility into source from projects where id = new.forked_from_project_id for share;
  if visibility_rank(new.visibility) > visibility_rank(source) then
    raise check_violation using constraint = 'projects_fork_visibility', table = 'projects',
      message = 'a fork is more visible than its source';
  end if;
  return new;
end $$;
create function narrow_forks() returns trigger language plpgsql as $$
begin
  update projects set visibility = new.visibility, updated_at = now()
   where forked_from_project_id = new.id and visibility_rank(visibility) > visibility_rank(new.visibility);
  return null;
end $$;

with recursive bounded as (
  select id, visibility_rank(visibility) as rank from projects where forked_from_project_id is null
  union all
  select f.id, least(visibility_rank(f.visibility), b.rank) from bounded b join projects f on f.forked_from_project_id = b.id
)
update projects p set visibility = (array['private', 'internal', 'public'])[b.rank]
  from bounded b where b.id = p.id and visibility_rank(p.visibility) > b.rank;

create trigger check_fork_visibility before insert or update of visibility, forked_from_project_id on projects
  for each row when (new.forked_from_project_id is not null) execute function check_fork_visibility();
create trigger narrow_forks after update of visibility on projects
  for each row when (visibility_rank(new.visibility) < visibility_rank(old.visibility)) execute function narrow_forks();
