-- One row for each file of the blob store. It is inserted before the first byte is written and deleted after the file is
-- removed, so that no file exists without a row. sha256 is null while the file is written, and again once it is garbage.
-- A table keeps a blob by a foreign key to sha256.
create table blobs (
  location text primary key,
  sha256 text unique check (sha256 ~ '^[0-9a-f]{64}$'),
  sha1 text,
  md5 text,
  size bigint,
  used_at timestamptz not null default now()
);
create index blobs_by_use on blobs (used_at);
