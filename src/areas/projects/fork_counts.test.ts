import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedWorld } from '../../../test/support/stand.ts'

const at = sharedWorld()
type Body = Record<string, unknown> & { readonly id: number }

test('forks_count counts the forks that the caller sees, in every record that shows it', async () => {
  const { make } = at()
  const group = await make.group({ visibility: 'public' })
  const source = await make.project({ group, visibility: 'public' })
  const closed = await make.group()
  const forks = [
    await make.project({ visibility: 'public' }),
    await make.project({ visibility: 'internal' }),
    await make.project(),
    await make.project({ group: closed }),
  ]
  await make.sql(
    `update projects set forked_from_project_id = ${source.id} where id in (${forks.map(({ id }) => id).join()})`,
  )
  const denied = await make.memberOf('reporter', { group: closed })
  await make.sql(
    `insert into members (user_id, project_id, access_level) values (${denied.id}, ${forks[3]?.id}, 0)`,
  )
  const external = await make.user()
  await make.sql(`update users set external = true where id = ${external.id}`)
  for (const [as, count] of [
    [undefined, 1],
    [external, 1],
    [await make.user(), 2],
    [await make.memberOf('guest', { project: forks[2] ?? source }), 3],
    [await make.memberOf('guest', { group: closed }), 3],
    [denied, 2],
    [await make.admin(), 4],
  ] as const) {
    const get = async (path: string) => (await at().get(path, as)).body as Body
    const listed = ((await at().get(`/projects/${source.id}/forks`, as)).body as Body[]).length
    const inGroup = (await get(`/groups/${group.id}`))['projects'] as Body[]
    const [all, below] = [await at().get('/projects', as), await at().get(`/groups/${group.id}/projects`, as)]
    const origin = (await get(`/projects/${forks[0]?.id}`))['forked_from_project'] as Body | undefined
    const records = [
      await get(`/projects/${source.id}`),
      inGroup[0],
      (all.body as Body[]).find(({ id }) => id === source.id),
      (below.body as Body[])[0],
      ...(as === undefined ? [] : [origin]),
    ]
    assert.deepEqual(
      [listed, ...records.map((record) => record?.['forks_count'])],
      [listed, ...records.map(() => count)],
    )
    assert.equal(listed, count)
  }
})
