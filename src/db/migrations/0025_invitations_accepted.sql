-- Whether promotions by whoever invited wait for an administrator, while the setting asks for that.
alter table invitations add column waits boolean not null default true;
update invitations i set waits = false from users u where u.id = i.created_by_id and u.admin;

create or replace function accept_invitations() returns trigger language plpgsql as $$
declare
  promotions_wait boolean := coalesce(
    (select value = 'true'::jsonb from settings where name = 'enable_member_promotion_management'), false);
begin
  perform pg_advisory_xact_lock(7163021, address_lock(new.email));
  with taken as (delete from invitations where lower(email) = lower(new.email) returning *),
  standing as (
    select t.*, promotions_wait and t.waits and t.access_level > 10
                and not exists (select from members m
                                 where m.user_id = new.user_id and m.access_level > 10
                                   and (m.expires_at is null or m.expires_at > today())) as queued
      from taken t where t.expires_at is null or t.expires_at > today()
  ), in_groups as (
    -- A membership that is over is as good as none.
    insert into members as m (user_id, namespace_id, access_level, expires_at, created_by_id)
    select new.user_id, namespace_id, access_level, expires_at, created_by_id
      from standing where namespace_id is not null and not queued
    on conflict (user_id, namespace_id)
    do update set access_level = excluded.access_level, expires_at = excluded.expires_at,
                  created_by_id = excluded.created_by_id, created_at = now(), updated_at = now()
     where m.expires_at <= today()
  ), in_projects as (
    insert into members as m (user_id, project_id, access_level, expires_at, created_by_id)
    select new.user_id, project_id, access_level, expires_at, created_by_id
      from standing where project_id is not null and not queued
    on conflict (user_id, project_id) where project_id is not null
    do update set access_level = excluded.access_level, expires_at = excluded.expires_at,
                  created_by_id = excluded.created_by_id, created_at = now(), updated_at = now()
     where m.expires_at <= today()
  ), waiting as (
    select * from standing s
     where queued and not exists (
       select from members m
        where m.user_id = new.user_id and (m.namespace_id = s.namespace_id or m.project_id = s.project_id)
          and (m.expires_at is null or m.expires_at > today()))
  ), for_groups as (
    insert into member_promotions (user_id, namespace_id, access_level, expires_at, requested_by_id)
    select new.user_id, namespace_id, access_level, expires_at, created_by_id
      from waiting where namespace_id is not null
    on conflict (user_id, namespace_id) where namespace_id is not null
    do update set access_level = excluded.access_level, expires_at = excluded.expires_at,
                  requested_by_id = excluded.requested_by_id
  )
  insert into member_promotions (user_id, project_id, access_level, expires_at, requested_by_id)
  select new.user_id, project_id, access_level, expires_at, created_by_id
    from waiting where project_id is not null
  on conflict (user_id, project_id) where project_id is not null
  do update set access_level = excluded.access_level, expires_at = excluded.expires_at,
                requested_by_id = excluded.requested_by_id;
  return null;
end $$;
