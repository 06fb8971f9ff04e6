-- A level of 0 inside an invited group takes away what its shares would give, and nothing besides.
create function denied_in(member bigint, line bigint[]) returns boolean language sql stable as $$
  select exists (
    select from members d
     where d.user_id = member and d.namespace_id = any(line) and d.access_level = 0
       and (d.expires_at is null or d.expires_at > today()))
$$;
create or replace view grants (user_id, namespace_id, project_id, access_level) as
  select user_id, namespace_id, project_id, access_level::int
    from members
   where expires_at is null or expires_at > today()
  union all
  select owner_id, id, null, 50 from namespaces where kind = 'user'
  union all
  select m.user_id, l.shared_group_id, null, least(m.access_level, l.group_access)::int
    from members m
    join namespaces w on m.namespace_id = w.id
    join namespaces invited on invited.traversal_ids @> array[w.id]
    join group_group_links l on l.shared_with_group_id = invited.id
   where m.access_level >= 10
     and (m.expires_at is null or m.expires_at > today())
     and (l.expires_at is null or l.expires_at > today())
     and not denied_in(m.user_id, invited.traversal_ids)
  union all
  select m.user_id, null, l.project_id, least(m.access_level, l.group_access)::int
    from members m
    join namespaces w on m.namespace_id = w.id
    join namespaces invited on invited.traversal_ids @> array[w.id]
    join project_group_links l on l.group_id = invited.id
   where m.access_level >= 10
     and (m.expires_at is null or m.expires_at > today())
     and (l.expires_at is null or l.expires_at > today())
     and not denied_in(m.user_id, invited.traversal_ids);

-- One text sealed with the instance's secret: a server with another secret must not start.
create table secret_check (
  id boolean primary key default true check (id),
  sealed bytea not null
);
