-- Diff notes follow their lines to later versions of a merge request; this is where they were written, once they moved.
alter table notes add column original_position jsonb;
