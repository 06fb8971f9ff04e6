-- Images that people attach to an alert, such as the chart of a metric.
create table alert_metric_images (
  id bigint generated always as identity primary key,
  alert_id bigint not null references alerts on delete cascade,
  filename text not null,
  sha256 text not null references blobs (sha256),
  size bigint not null,
  url text check (char_length(url) <= 255),
  url_text text check (char_length(url_text) <= 128),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index alert_metric_images_alert on alert_metric_images (alert_id, id);
create index alert_metric_images_sha256 on alert_metric_images (sha256);
