-- How many issues and merge requests bear a label in a project, for lists of labels: the sum of its rows. Whatever changes
-- adds rows, for which nobody waits; once an hour those of one label in one project become one.
create table label_counts (
  label_id bigint not null,
  project_id bigint not null,
  -- Issues that are not confidential, and those that are.
  opened integer not null,
  closed integer not null,
  hidden_opened integer not null,
  hidden_closed integer not null,
  -- Open merge requests.
  opened_requests integer not null
);

create function count_labels_anew() returns void language sql as $$
  delete from label_counts;
  insert into label_counts
    select label_id, noteable_project_id,
           count(*) filter (where noteable_kind = 'issue' and noteable_state = 'opened' and not noteable_confidential),
           count(*) filter (where noteable_kind = 'issue' and noteable_state = 'closed' and not noteable_confidential),
           count(*) filter (where noteable_kind = 'issue' and noteable_state = 'opened' and noteable_confidential),
           count(*) filter (where noteable_kind = 'issue' and noteable_state = 'closed' and noteable_confidential),
           count(*) filter (where noteable_kind = 'merge_request' and noteable_state = 'opened')
      from label_links where noteable_kind is not null group by label_id, noteable_project_id
$$;
select count_labels_anew();
create index label_counts_label on label_counts (label_id, project_id)
  include (opened, closed, hidden_opened, hidden_closed, opened_requests);

create function fold_label_counts() returns void language sql as $$
  with gone as (
    delete from label_counts c
     using (select label_id, project_id from label_counts group by label_id, project_id having count(*) > 1) m
     where c.label_id = m.label_id and c.project_id = m.project_id
    returning c.*)
  insert into label_counts
    select label_id, project_id, sum(opened), sum(closed), sum(hidden_opened), sum(hidden_closed), sum(opened_requests)
      from gone group by label_id, project_id
    having 0 <> any(array[sum(opened), sum(closed), sum(hidden_opened), sum(hidden_closed), sum(opened_requests)])
$$;

create function count_label_links() returns trigger language plpgsql as $$
begin
  execute format('
    insert into label_counts
      select label_id, project_id, sum(opened), sum(closed), sum(hidden_opened), sum(hidden_closed), sum(opened_requests)
        from (select label_id, noteable_project_id as project_id,
                     case when kind = %1$L and state = %3$L and not hidden then sign else 0 end as opened,
                     case when kind = %1$L and state = %4$L and not hidden then sign else 0 end as closed,
                     case when kind = %1$L and state = %3$L and hidden then sign else 0 end as hidden_opened,
                     case when kind = %1$L and state = %4$L and hidden then sign else 0 end as hidden_closed,
                     case when kind = %2$L and state = %3$L then sign else 0 end as opened_requests
                from (%5$s) k where kind is not null) c
       group by label_id, project_id
      having 0 <> any(array[sum(opened), sum(closed), sum(hidden_opened), sum(hidden_closed), sum(opened_requests)])',
    'issue', 'merge_request', 'opened', 'closed',
    concat_ws(' union all ',
      case when tg_op <> 'DELETE' then
        'select 1 as sign, label_id, noteable_project_id, noteable_kind as kind, noteable_state as state,
                noteable_confidential as hidden from fresh' end,
      case when tg_op <> 'INSERT' then
        'select -1 as sign, label_id, noteable_project_id, noteable_kind as kind, noteable_state as state,
                noteable_confidential as hidden from gone' end));
  return null;
end $$;
create trigger count_new_links after insert on label_links
  referencing new table as fresh for each statement execute function count_label_links();
create trigger count_old_links after delete on label_links
  referencing old table as gone for each statement execute function count_label_links();
create trigger count_changed_links after update on label_links
  referencing new table as fresh old table as gone for each statement execute function count_label_links();
analyze label_counts;
