-- The moment of a deed: that of the transaction, or an earlier one that whoever moves records in may set for it.
create function deed_time() returns timestamptz language sql stable parallel safe as $$
  select coalesce(nullif(current_setting('guildhall.deed_time', true), '')::timestamptz, now())
$$;

alter table discussions alter column created_at set default deed_time();
alter table notes alter column created_at set default deed_time(), alter column updated_at set default deed_time();
alter table resource_label_events alter column created_at set default deed_time();
alter table resource_state_events alter column created_at set default deed_time();
alter table resource_milestone_events alter column created_at set default deed_time();
alter table resource_weight_events alter column created_at set default deed_time();
alter table resource_iteration_events alter column created_at set default deed_time();
