import type { Opened } from '../../src/open.ts'

/** State of a database beside its rows: created, disabled, set or analyzed by a file. */
const SHAPE = `
  select jsonb_build_array(
    (select count(*) from pg_class), (select sum(relnatts) from pg_class), (select count(*) from pg_proc),
    (select count(*) from pg_constraint), (select string_agg(concat(tgname, tgenabled), ',' order by oid) from pg_trigger),
    (select count(*) from pg_db_role_setting), (select count(*) from pg_namespace),
    (select sum(reltuples) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace),
    (select sum(pg_relation_size(oid)) > 2e6 from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace)
  ) as shape`

/** Ids go on, so that nothing remembered of a record is ever taken for another's. */
const EMPTY = `
  do $$
  declare
    name text;
    has_rows boolean;
  begin
    set local session_replication_role = replica;
    for name in
      select oid::regclass from pg_class
       where relkind = 'r' and relname not in ('schema_migrations', 'settings_clock', 'secret_check', 'plan_limits')
             and (relnamespace = 'public'::regnamespace or oid = 'graphile_worker._private_jobs'::regclass)
    loop
      execute format('select exists (select from %s)', name) into has_rows;
      if has_rows then execute format('delete from %s', name); end if;
    end loop;
    update plan_limits set limits = '{}' where limits <> '{}';
    update settings_clock set version = version + 1;
  end $$`

/** Answers what empties a world again; that tells whether the world is as good as new then. */
export async function emptier({ client, instance }: Opened): Promise<() => Promise<boolean>> {
  const shape = async (): Promise<string> =>
    JSON.stringify((await client.pool.query<{ shape: unknown }>(SHAPE)).rows)
  const before = await shape()
  return async () => {
    if ((await shape()) !== before) return false
    await client.script(EMPTY)
    await instance.settings.reload()
    return true
  }
}
