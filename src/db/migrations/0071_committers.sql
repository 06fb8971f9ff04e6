-- The committers of a version of a merge request, by lower-cased address; null in versions from before.
alter table merge_request_diffs add column committer_emails text[];
