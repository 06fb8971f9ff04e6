import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { sharedWorld } from '../../../test/support/stand.ts'
import { DEFAULT_LIMITS, ENFORCEMENT, limitOf } from './plan_limits.ts'

const KNOWS = /\.test\.ts$|plan_limits/

async function readSources(folder: string): Promise<Map<string, string>> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const read = names.map(
    async (name) => [`${folder}/${name}`, await readFile(`${folder}/${name}`, 'utf8')] as const,
  )
  return new Map(await Promise.all(read))
}

const world = sharedWorld()

test('a limit is that of the plan of the root namespace, of the default plan without one, and Infinity for 0', async () => {
  const { make, opened } = world()
  const { db } = opened.instance
  const top = await make.group()
  const below = await make.group({ parent: top })
  const [own, shared] = [below, await make.group()]
  await make.sql(`
    update plan_limits set limits = '{"ci_needs_size_limit": 7}' where plan_name = 'default';
    insert into plan_limits (plan_name, limits) values ('premium', '{"ci_pipeline_size": 3, "dotenv_size": 0}');
    update namespaces set plan = 'premium' where id = ${top.id};
    update namespaces set plan = 'gold' where id = ${shared.id}`)
  assert.deepEqual(
    [await limitOf(db, own, 'ci_pipeline_size'), await limitOf(db, own, 'dotenv_size')],
    [3, Infinity],
  )
  assert.equal(await limitOf(db, own, 'ci_needs_size_limit'), 50)
  assert.equal(await limitOf(db, shared, 'ci_needs_size_limit'), 7)
  assert.equal(await limitOf(db, shared, 'ci_pipeline_size'), Infinity)
  assert.equal(await limitOf(db, shared, 'dotenv_variables'), 20)
  await make.sql(`delete from plan_limits where plan_name = 'premium'`)
})

test('each of the 21 limits is enforced by the file that the table names, or by none', async () => {
  assert.equal(Object.keys(DEFAULT_LIMITS).length, 21)
  assert.deepEqual(Object.keys(ENFORCEMENT), Object.keys(DEFAULT_LIMITS))
  const sources = await readSources('src')
  for (const [name, place] of Object.entries(ENFORCEMENT)) {
    // The file that knows the limits says what they are; that of the interface shows them.
    const asking = [...sources].filter(([file, text]) => !KNOWS.test(file) && text.includes(`'${name}'`))
    const files = 'file' in place ? [place.file] : []
    assert.deepEqual(
      asking.map(([file]) => file),
      files,
      name,
    )
  }
})
