-- Who is assigned knows which labels the issue bears, as links to labels do: what somebody has to do of a label is found
-- without a look at the links of either.
alter table issue_assignees add column label_ids bigint[];
drop index issue_assignees_issues;
update issue_assignees a
   set label_ids = case when b.ids is null then '{}' when cardinality(b.ids) <= 64 then b.ids end
  from issues i left join (select noteable_id, array_agg(label_id order by label_id) as ids
                             from label_links group by noteable_id) b on b.noteable_id = i.id
 where i.id = a.issue_id;
create index issue_assignees_issues on issue_assignees (user_id, issue_project_id, issue_created_at, issue_id)
  include (issue_state, issue_confidential, label_ids);

-- The lock stands before the look: whoever changes labels meanwhile has told those who were assigned before.
create or replace function know_assigned_issue() returns trigger language plpgsql as $$
declare borne bigint[];
begin
  select project_id, created_at, state, confidential
    into new.issue_project_id, new.issue_created_at, new.issue_state, new.issue_confidential
    from issues where id = new.issue_id for share;
  select coalesce(array_agg(label_id order by label_id), '{}') into borne from label_links where noteable_id = new.issue_id;
  new.label_ids := case when cardinality(borne) <= 64 then borne end;
  return new;
end $$;

create or replace function tell_label_ids(noteables bigint[]) returns void language sql as $$
  select from issues where id = any(noteables) order by id for no key update;
  select from merge_requests where id = any(noteables) order by id for no key update;
  update label_links k set label_ids = b.ids
    from (select noteable_id, case when count(*) <= 64 then array_agg(label_id order by label_id) end as ids
            from label_links where noteable_id = any(noteables) and noteable_kind is not null group by noteable_id) b
   where k.noteable_id = b.noteable_id and k.label_ids is distinct from b.ids;
  update issue_assignees a set label_ids = b.ids
    from (select n.id, (select case when count(*) = 0 then '{}' when count(*) <= 64 then array_agg(k.label_id order by k.label_id) end
                          from label_links k where k.noteable_id = n.id) as ids
            from unnest(noteables) n (id)) b
   where a.issue_id = b.id and a.label_ids is distinct from b.ids
$$;
analyze issue_assignees;
