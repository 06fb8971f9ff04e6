-- A walk along the projects of a namespace sees whom each is shown to, and needs not look at those that are not.
drop index projects_namespace_created_at;
drop index projects_namespace_updated_at;
drop index projects_namespace_last_activity_at;
drop index projects_namespace_star_count;
drop index projects_namespace_name;
drop index projects_namespace_path;
create index projects_namespace_created_at on projects (namespace_id, created_at, id) include (visibility, archived);
create index projects_namespace_updated_at on projects (namespace_id, updated_at, id) include (visibility, archived);
create index projects_namespace_last_activity_at on projects (namespace_id, last_activity_at, id)
  include (visibility, archived);
create index projects_namespace_star_count on projects (namespace_id, star_count, id) include (visibility, archived);
create index projects_namespace_name on projects (namespace_id, name, id) include (visibility, archived);
create index projects_namespace_path on projects (namespace_id, path, id) include (visibility, archived);
-- Groups anywhere below a group in the order of their ids: the newest of an instance may all stand in other trees.
create index groups_tree_id on namespaces ((traversal_ids[1]), id) include (visibility, traversal_ids) where kind = 'group';
-- What is somebody's is put in the order of its changes, and what is due soon in that of its age, without a look at it.
drop index issues_project_author;
drop index issues_project_due_date;
create index issues_project_author on issues (project_id, author_id, created_at, id)
  include (state, confidential, updated_at);
create index issues_project_due_date on issues (project_id, due_date, id) include (state, confidential, created_at);

-- A change of what else links know leaves the counts of labels alone.
create or replace function count_label_links() returns trigger language plpgsql as $$
begin
  -- Most changes are of what else links know.
  if tg_op = 'UPDATE' then
    if not exists (select label_id, noteable_id, noteable_state, noteable_confidential from fresh
                   except select label_id, noteable_id, noteable_state, noteable_confidential from gone) then
      return null;
    end if;
  end if;
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
