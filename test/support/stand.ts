import { after, before } from 'node:test'
import type { Namespace } from '../../src/db/schema/tables.ts'
import type { Someone } from './makers.ts'
import { openWorld, type Answered, type World, type WorldOptions } from './world.ts'

/** Opens one world for all tests of a file and closes it after them; `get` may be called inside tests only. */
export function sharedWorld(
  prepare: (world: World) => Promise<void> = async () => {},
  options?: WorldOptions,
): () => World {
  let world: World | undefined
  before(async () => {
    world = await openWorld(options)
    await prepare(world)
  })
  after(async () => {
    const open = world
    world = undefined
    await open?.close()
  })
  return () => {
    if (world === undefined) throw new Error('the world is not open yet')
    return world
  }
}

const everything = new WeakMap<World, string>()

/** One statement over all tables: each as the text of its rows, but for the moment a token was last used. */
async function everythingOf(world: World): Promise<string> {
  const { rows } = await world.opened.client.pool.query<{ name: string; used: boolean }>(
    `select relname as name, exists (
              select from pg_attribute where attrelid = c.oid and attname = 'last_used_at') as used
       from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
  )
  const parts = rows.map(
    ({ name, used }) =>
      `select '${name}' as name, (select string_agg(row, e'\\n' order by row collate "C") from
         (select (${used ? "to_jsonb(t) - 'last_used_at'" : 'row_to_json(t)'})::text as row from "${name}" t) r) as rows`,
  )
  return parts.join(' union all ')
}

/** A database's contents as one text: what must not change did not. */
export async function contents(world: World): Promise<string> {
  const text = everything.get(world) ?? (await everythingOf(world))
  everything.set(world, text)
  // By its name it is planned once for each connection: to plan it takes longer than to run it.
  const query = { name: 'contents', text }
  const { rows } = await world.opened.client.pool.query<{ name: string; rows: string | null }>(query)
  return rows.map((table) => `${table.name}\n${table.rows ?? ''}`).join('\n\n')
}

/** A label, made through the interface. */
export async function makeLabel(
  world: World,
  group: Pick<Namespace, 'id'>,
  as: Someone,
  name = 'bug',
): Promise<{ id: number; name: string; color: string }> {
  const answer = await world.call('POST', `/groups/${group.id}/labels`, {
    as,
    body: { name, color: '#112233' },
  })
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  return answer.body as { id: number; name: string; color: string }
}

/** Everything a caller can tell two answers apart by. */
export function visible({ status, text, headers }: Answered): object {
  const { 'x-request-id': _id, date: _date, ...rest } = headers
  return { status, text, headers: rest }
}
