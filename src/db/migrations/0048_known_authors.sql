-- Links to labels know who wrote their issues too: what somebody wrote and labelled is found without a look at the issues.
alter table label_links add column noteable_author_id bigint;
-- Built anew: in a tenth of the time that it takes to keep them.
create temporary table links_built on commit drop as
  select indexdef, format('%I.%I', schemaname, indexname) as name from pg_indexes
   where schemaname = current_schema() and tablename = 'label_links' and indexname not in (select conname from pg_constraint);
do $$ declare one text; begin for one in select name from links_built loop execute 'drop index ' || one; end loop; end $$;
update label_links k set noteable_author_id = i.author_id from issues i where i.id = k.noteable_id;
do $$ declare one text; begin for one in select indexdef from links_built loop execute one; end loop; end $$;
create index label_links_authors
  on label_links (label_id, noteable_author_id, noteable_project_id, noteable_created_at, noteable_id)
  include (noteable_state, noteable_confidential, label_ids)
  where noteable_kind = 'issue' and noteable_author_id is not null;

create or replace function know_labelled() returns trigger language plpgsql as $$
begin
  new.label_ids := array[new.label_id];
  select 'issue', project_id, created_at, state, confidential, milestone_id, author_id
    into new.noteable_kind, new.noteable_project_id, new.noteable_created_at, new.noteable_state,
         new.noteable_confidential, new.noteable_milestone_id, new.noteable_author_id
    from issues where id = new.noteable_id for no key update;
  if not found then
    select 'merge_request', project_id, created_at, state, false, milestone_id
      into new.noteable_kind, new.noteable_project_id, new.noteable_created_at, new.noteable_state,
           new.noteable_confidential, new.noteable_milestone_id
      from merge_requests where id = new.noteable_id for no key update;
  end if;
  return new;
end $$;
-- Who wrote an issue changes when somebody goes.
create function tell_author() returns trigger language plpgsql as $$
begin
  update label_links set noteable_author_id = new.author_id where noteable_id = new.id;
  return null;
end $$;
create trigger tell_author after update of author_id on issues for each row
  when (old.author_id is distinct from new.author_id) execute function tell_author();
analyze label_links;
