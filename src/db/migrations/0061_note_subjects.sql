-- The issue or merge request that a system note names: who does not see that does not read the note, though it may have
-- become confidential, or been switched off, since the note was written.
alter table discussions add column mentions_noteable_id bigint;
alter table notes add column mentions_noteable_id bigint;

update notes n set mentions_project_id = m.project_id, mentions_code = true
  from merge_requests m, issues i
 where n.system_action = 'closed' and n.body ~ '^closed via merge request !\d{1,9}$' and n.mentions_project_id is null
   and i.id = n.noteable_id and m.project_id = i.project_id and m.iid = substring(n.body from '!(\d+)$')::bigint;
update notes n set mentions_project_id = i.project_id
  from issues i
 where n.system_action = 'duplicate' and n.mentions_project_id is null and i.id = n.noteable_id;
update notes n set mentions_noteable_id = i.id
  from issues i
 where n.system_action in ('cross_reference', 'moved', 'duplicate') and n.mentions_project_id = i.project_id
   and i.iid = substring(
         n.body from '^(?:mentioned in issue|moved (?:from|to)|marked this issue as a duplicate of|marked) \S*#(\d{1,9})')::bigint;
update notes n set mentions_noteable_id = m.id
  from merge_requests m
 where n.system_action in ('cross_reference', 'closed') and n.mentions_project_id = m.project_id
   and m.iid = substring(n.body from '^(?:mentioned in|closed via) merge request \S*!(\d{1,9})$')::bigint;
update discussions d
   set mentions_project_id = n.mentions_project_id, mentions_code = n.mentions_code, mentions_noteable_id = n.mentions_noteable_id
  from notes n
 where n.discussion_id = d.id and n.mentions_noteable_id is not null;
-- What was answered there is for the same readers.
update notes n
   set mentions_project_id = d.mentions_project_id, mentions_code = d.mentions_code, mentions_noteable_id = d.mentions_noteable_id
  from discussions d
 where d.id = n.discussion_id and d.mentions_noteable_id is not null and n.mentions_noteable_id is null;
