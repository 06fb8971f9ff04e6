-- Links to labels know of merge requests too what lists are put in order and counted by, and of either which milestone it
-- has and which labels it bears: those with several labels are found among the links of one, without a look at any other.
drop trigger know_issue on label_links;
drop trigger tell_links on issues;
alter table label_links rename column issue_project_id to noteable_project_id;
alter table label_links rename column issue_created_at to noteable_created_at;
alter table label_links rename column issue_state to noteable_state;
alter table label_links rename column issue_confidential to noteable_confidential;
alter table label_links
  add column noteable_kind text,
  add column noteable_milestone_id bigint,
  add column label_ids bigint[];
alter table merge_requests add column labelled boolean not null default false;

drop index label_links_issues;
update label_links k
   set noteable_kind = r.kind, noteable_project_id = r.project_id, noteable_created_at = r.created_at,
       noteable_state = r.state, noteable_confidential = r.confidential, noteable_milestone_id = r.milestone_id,
       label_ids = b.ids
  from (select id, 'issue' as kind, project_id, created_at, state, confidential, milestone_id from issues
        union all
        select id, 'merge_request', project_id, created_at, state, false, milestone_id from merge_requests) r,
       -- More labels than an entry of an index holds are asked for.
       (select noteable_id, case when count(*) <= 64 then array_agg(label_id order by label_id) end as ids
          from label_links group by noteable_id) b
 where r.id = k.noteable_id and b.noteable_id = k.noteable_id;
update merge_requests m set labelled = true where exists (select from label_links k where k.noteable_id = m.id);
create index label_links_issues on label_links (label_id, noteable_project_id, noteable_created_at, noteable_id)
  include (noteable_state, noteable_confidential, label_ids) where noteable_kind = 'issue';
create index label_links_merge_requests on label_links (label_id, noteable_project_id, noteable_created_at, noteable_id)
  include (noteable_state, noteable_confidential, label_ids) where noteable_kind = 'merge_request';
-- The issues of a milestone by their labels.
create index label_links_milestones
  on label_links (label_id, noteable_milestone_id, noteable_project_id, noteable_created_at, noteable_id)
  include (noteable_state, noteable_confidential, label_ids)
  where noteable_kind = 'issue' and noteable_milestone_id is not null;

drop function know_labelled_issue();
create function know_labelled() returns trigger language plpgsql as $$
begin
  new.label_ids := array[new.label_id];
  select 'issue', project_id, created_at, state, confidential, milestone_id
    into new.noteable_kind, new.noteable_project_id, new.noteable_created_at, new.noteable_state,
         new.noteable_confidential, new.noteable_milestone_id
    from issues where id = new.noteable_id for no key update;
  if not found then
    select 'merge_request', project_id, created_at, state, false, milestone_id
      into new.noteable_kind, new.noteable_project_id, new.noteable_created_at, new.noteable_state,
           new.noteable_confidential, new.noteable_milestone_id
      from merge_requests where id = new.noteable_id for no key update;
  end if;
  return new;
end $$;
create trigger know_labelled before insert on label_links for each row execute function know_labelled();

create or replace function tell_links() returns trigger language plpgsql as $$
begin
  update label_links
     set noteable_state = new.state, noteable_confidential = new.confidential, noteable_milestone_id = new.milestone_id
   where noteable_id = new.id;
  if old.state <> new.state or old.confidential <> new.confidential then
    update issue_assignees set issue_state = new.state, issue_confidential = new.confidential where issue_id = new.id;
  end if;
  return null;
end $$;
create function tell_label_links() returns trigger language plpgsql as $$
begin
  update label_links set noteable_state = new.state, noteable_milestone_id = new.milestone_id where noteable_id = new.id;
  return null;
end $$;
create trigger tell_links after update of state, confidential, milestone_id on issues for each row
  when (old.state <> new.state or old.confidential <> new.confidential or old.milestone_id is distinct from new.milestone_id)
  execute function tell_links();
create trigger tell_links after update of state, milestone_id on merge_requests for each row
  when (old.state <> new.state or old.milestone_id is distinct from new.milestone_id)
  execute function tell_label_links();

-- In the language that plans anew each time: a plan made while the tables were empty would compare all with all.
-- Who changes the labels of a record has it for himself until the end, so that of two at once the second knows of both.
create function tell_label_ids(noteables bigint[]) returns void language sql as $$
  select from issues where id = any(noteables) order by id for no key update;
  select from merge_requests where id = any(noteables) order by id for no key update;
  update label_links k set label_ids = b.ids
    from (select noteable_id, case when count(*) <= 64 then array_agg(label_id order by label_id) end as ids
            from label_links where noteable_id = any(noteables) and noteable_kind is not null group by noteable_id) b
   where k.noteable_id = b.noteable_id and k.label_ids is distinct from b.ids
$$;
create or replace function mark_labelled() returns trigger language plpgsql as $$
begin
  update issues set labelled = true where id in (select noteable_id from fresh) and not labelled;
  update merge_requests set labelled = true where id in (select noteable_id from fresh) and not labelled;
  perform tell_label_ids(array(select distinct noteable_id from fresh));
  return null;
end $$;
create or replace function mark_unlabelled() returns trigger language plpgsql as $$
begin
  update issues i set labelled = false
   where i.id in (select noteable_id from gone) and i.labelled
     and not exists (select from label_links k where k.noteable_id = i.id);
  update merge_requests m set labelled = false
   where m.id in (select noteable_id from gone) and m.labelled
     and not exists (select from label_links k where k.noteable_id = m.id);
  -- What bore a label that is no more need not forget it: nobody asks for it.
  perform tell_label_ids(
    array(select distinct g.noteable_id from gone g where exists (select from labels l where l.id = g.label_id)));
  return null;
end $$;

create index merge_requests_project_unlabelled on merge_requests (project_id, created_at, id) include (state)
  where not labelled;
drop index merge_requests_milestone;
create index merge_requests_milestone on merge_requests (milestone_id, project_id, created_at, id) include (state)
  where milestone_id is not null;
analyze label_links, merge_requests;
