-- The user that opens and closes incidents for alerts.
alter table users
  drop constraint users_user_type_check,
  add constraint users_user_type_check check (user_type in ('human', 'project_bot', 'ghost', 'alert_bot'));
create unique index users_alert_bot on users (user_type) where user_type = 'alert_bot';

-- Set on incidents; null is unknown.
alter table issues
  add column severity text check (severity in ('critical', 'high', 'medium', 'low', 'info', 'unknown'));

-- A closed incident resolves its alert, whichever way it was closed. A moved issue closes too, but goes on elsewhere.
create function resolve_alerts_of_issue() returns trigger language plpgsql as $$
begin
  update alerts set status = 'resolved', ended_at = coalesce(ended_at, now()), updated_at = now()
   where issue_id = new.id and status <> 'resolved';
  return null;
end $$;
create trigger resolve_alerts after update of state on issues for each row
  when (old.state = 'opened' and new.state = 'closed' and new.moved_to_id is null)
  execute function resolve_alerts_of_issue();
