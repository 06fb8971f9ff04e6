-- Variables of a job's dotenv report, sealed with the instance secret. They outlive the report, which expires.
alter table ci_jobs add dotenv bytea;
