import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

// Users with few groups of several pages of projects get the list that the rule gives, whatever the search.

const callers: { readonly name: string; readonly as: Someone; readonly own: readonly number[] }[] = []
const at = sharedWorld(
  async ({ make }) => {
    const yard = await make.group({ path: 'yard', visibility: 'private' })
    const dock = await make.group({ path: 'dock', parent: yard, visibility: 'private' })
    const away = await make.group({ path: 'away', visibility: 'public' })
    await make.sql(`
      insert into projects (namespace_id, name, path, full_path, visibility, topics)
        select case when n <= 350 then ${yard.id} when n <= 410 then ${dock.id} else ${away.id} end,
               case when n > 410 or n % 90 = 0 then 'Lamp ' else 'Hull ' end || n, 'p' || n,
               case when n <= 350 then 'yard/p' when n <= 410 then 'yard/dock/p' else 'away/p' end || n,
               case when n <= 410 then 'private' else (array['private', 'internal', 'public'])[1 + n % 3] end,
               case when n % 40 = 0 then '{sea}'::text[] else '{}' end
          from generate_series(1, 460) n;
      analyze projects, namespaces`)
    const [member, denied] = [await make.memberOf('developer', { group: yard }), await make.user()]
    await make.sql(`insert into members (user_id, namespace_id, access_level)
      values (${denied.id}, ${yard.id}, 30), (${denied.id}, ${dock.id}, 0)`)
    callers.push({ name: 'a member', as: member, own: [yard.id, dock.id] })
    callers.push({ name: 'one with a denial below', as: denied, own: [yard.id] })
    callers.push({ name: 'somebody else', as: await make.user(), own: [] })
  },
  { fresh: true },
)

async function answered(query: string, as: Someone): Promise<number[]> {
  const found: number[] = []
  for (let page = 1; ; page++) {
    const answer = await at().get(`/projects?${query}&per_page=100&page=${page}`, as)
    assert.equal(answer.status, 200, answer.text)
    found.push(...(answer.body as { id: number }[]).map(({ id }) => id))
    if (answer.headers['x-next-page']) continue
    assert.equal(answer.headers['x-total'], String(found.length), `the total of ${query}`)
    return found.toSorted((a, b) => a - b)
  }
}

for (const [query, where] of [
  ['search=lamp', `name like 'Lamp%'`],
  ['search=hull&order_by=name', `name like 'Hull%'`],
  ['search=lamp&order_by=similarity', `name like 'Lamp%'`],
  ['search=hull&order_by=similarity', `name like 'Hull%'`],
  ['search=nowhere at all', 'false'],
  ['topic=sea', `topics @> '{sea}'`],
  ['search=lamp&visibility=private', `name like 'Lamp%' and visibility = 'private'`],
] as const)
  test(`${query} finds what each caller sees, and of that what they belong to`, async () => {
    for (const { name, as, own } of callers) {
      const mine = `namespace_id = any('{${own.join(',')}}')`
      const expected = async (seen: string): Promise<number[]> =>
        (
          await rowsOf<{ id: number }>(
            at(),
            `select id from projects where ${where} and (${seen}) order by id`,
          )
        ).map(({ id }) => id)
      assert.deepEqual(await answered(query, as), await expected(`visibility <> 'private' or ${mine}`), name)
      assert.deepEqual(await answered(`${query}&membership=true`, as), await expected(mine), name)
    }
  })
