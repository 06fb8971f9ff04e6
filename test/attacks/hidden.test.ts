import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { operations } from '../../src/areas/index.ts'
import { gatesOf } from '../../src/http/operation.ts'
import { callIn, callerOf, openScene, setScene, type Scene } from '../calls/scene.ts'
import type { Someone } from '../support/makers.ts'
import { contents, makeLabel, sharedWorld, visible } from '../support/stand.ts'

// Rule 1: who may not see a record cannot tell it from one that does not exist. Derived from the operations, so that
// one added tomorrow is held to it too.

let scene: Scene
let outsider: Someone
let denied: Someone
let hidden: Record<'group' | 'project' | 'namespace', { id: number; full_path: string }>

const world = sharedWorld(async (here) => {
  scene = await openScene(here, 'private')
  outsider = callerOf(scene, 'none')
  denied = callerOf(scene, 'no_access')
  // The moment of use is written down now and then, beside the answer: not while statements are compared.
  await here.make.sql('update personal_access_tokens set last_used_at = now()')
  hidden = { group: scene.group, project: scene.project, namespace: scene.group }
})

const loading = operations.flatMap((op) => {
  const parent = gatesOf(op).find(({ preload: along }) => along !== undefined)
  return parent?.preload && parent.param ? [{ op, kind: parent.preload, param: parent.param }] : []
})

const ABSENT = '987654321'

suite('hidden and absent look the same', () => {
  test('there are operations with a parent to hide', () => assert.ok(loading.length >= 12))

  for (const { op, kind, param } of loading)
    test(`rule 1: ${op.name}`, async () => {
      const values = await setScene(world(), scene, op)
      const before = await contents(world())
      const { id, full_path } = hidden[kind]
      for (const [who, as] of [
        ['a stranger', outsider],
        ['somebody denied', denied],
        ['nobody', undefined],
      ] as const) {
        const ask = async (parent: string, others?: string): Promise<readonly [object, string[]]> => {
          const names = Object.keys(values).map((name) => [name, others ?? values[name] ?? ''])
          const path = { ...(Object.fromEntries(names) as Record<string, string>), [param]: parent }
          let seen: object = {}
          const statements = await world().statements(async () => {
            seen = { who, ...visible(await callIn(world(), scene, op, { as, path })) }
          })
          return [seen, statements]
        }
        const byId = await ask(ABSENT)
        assert.ok([401, 403, 404].includes((byId[0] as { status: number }).status), JSON.stringify(byId))
        assert.deepEqual(await ask(String(id)), byId)
        assert.deepEqual(await ask(String(id), 'none'), await ask(ABSENT, 'none'))
        const byPath = await ask('no-such/place')
        assert.deepEqual(await ask(full_path), byPath)
        assert.deepEqual(await ask(full_path.toUpperCase()), byPath)
        // An operation that takes ids only refuses every path alike.
        const takesPaths = (byPath[0] as { status: number }).status !== 400
        if (takesPaths) assert.deepEqual(byPath[0], byId[0])
      }
      assert.equal(await contents(world()), before)
    })

  // Conditions and wishes of form must not tell the two apart either.
  for (const headers of [
    { accept: 'application/problem+json' },
    { 'if-none-match': '*' },
    { 'if-match': '*' },
    { origin: 'https://x.test' },
  ] as const)
    test(`rule 1: with ${Object.keys(headers).join()}`, async () => {
      const ask = async (id: number | string): Promise<object> => {
        const answer = await world().call('GET', `/groups/${id}`, { as: outsider, headers })
        const { 'x-request-id': requestId } = answer.headers
        return visible({ ...answer, text: answer.text.replace(String(requestId), 'ID') })
      }
      assert.deepEqual(await ask(hidden.group.id), await ask(ABSENT))
    })
})

suite('hidden rows in lists', () => {
  // The total, the last page or a gap on a page gave away how much is hidden.
  test('GEN-33: totals, last page and page lengths count only what the caller may see', async () => {
    const { make } = world()
    const parent = await make.group({ visibility: 'public' })
    for (let i = 0; i < 6; i++)
      await make.project({ group: parent, visibility: i % 2 === 0 ? 'public' : 'private', path: `p${i}` })
    const member = await make.memberOf('guest', { group: parent })
    const walk = async (as: Someone | undefined): Promise<unknown> => {
      const pages: unknown[] = []
      for (const page of [1, 2, 3, 4]) {
        const { headers, body } = await world().get(
          `/groups/${parent.id}/projects?per_page=2&order_by=path&sort=asc&page=${page}`,
          as,
        )
        const last = /page=(\d+)&per_page=2[^,]*rel="last"/.exec(String(headers['link']))?.[1]
        pages.push([
          headers['x-total'],
          headers['x-total-pages'],
          last,
          (body as { path: string }[]).map(({ path }) => path),
        ])
      }
      return pages
    }
    const open = [
      ['3', '2', '2', ['p0', 'p2']],
      ['3', '2', '2', ['p4']],
      ['3', '2', '2', []],
      ['3', '2', '2', []],
    ]
    const all = [
      ['6', '3', '3', ['p0', 'p1']],
      ['6', '3', '3', ['p2', 'p3']],
      ['6', '3', '3', ['p4', 'p5']],
      ['6', '3', '3', []],
    ]
    assert.deepEqual(await walk(undefined), open)
    assert.deepEqual(await walk(outsider), open)
    assert.deepEqual(await walk(member), all)
  })
  test('GEN-33: groups and namespaces that are hidden are in no list, no search and no total', async () => {
    const { make } = world()
    const [open, closed] = [
      await make.group({ visibility: 'public', path: 'needle-open' }),
      await make.group({ path: 'needle-closed' }),
    ]
    const member = await make.memberOf('guest', { group: closed })
    const found = async (path: string, as?: Someone): Promise<unknown> => {
      const { headers, body } = await world().get(path, as)
      return [headers['x-total'], (body as { id: number }[]).map(({ id }) => id)]
    }
    const query = '/groups?search=needle&all_available=true&order_by=id'
    assert.deepEqual(await found(query), ['1', [open.id]])
    assert.deepEqual(await found(query, outsider), ['1', [open.id]])
    assert.deepEqual(await found(query, member), ['2', [open.id, closed.id]])
    assert.deepEqual(await found('/namespaces?search=needle', outsider), ['0', []])
    assert.deepEqual(await found('/namespaces?search=needle', member), ['1', [closed.id]])
    assert.deepEqual(await found(`${query}&skip_groups=${open.id}`, outsider), ['0', []])
    assert.deepEqual(await found('/groups?search=needle&min_access_level=0', outsider), ['0', []])
  })
  test('GEN-33: a public group shows no hidden project, and no hidden group it is shared with', async () => {
    const { make } = world()
    const [open, secret] = [await make.group({ visibility: 'public' }), await make.group()]
    await make.project({ group: open, visibility: 'private' })
    await make.sql(
      `insert into group_group_links (shared_group_id, shared_with_group_id, group_access) values (${open.id}, ${secret.id}, 30)`,
    )
    for (const as of [undefined, outsider]) {
      const { body } = await world().get(`/groups/${open.id}`, as)
      const { projects, shared_with_groups } = body as { projects: unknown[]; shared_with_groups: unknown[] }
      assert.deepEqual([projects, shared_with_groups], [[], []])
    }
  })
  test('GEN-33: labels of hidden projects, and what they mark there, are not counted', async () => {
    const { make } = world()
    const group = await make.group({ visibility: 'public' })
    const project = await make.project({ group })
    const reader = await make.memberOf('reporter', { project })
    const owner = await make.memberOf('owner', { group })
    const label = await makeLabel(world(), group, owner)
    await make.sql(`
      insert into issues (iid, project_id, title) values (1, ${project.id}, 'x');
      insert into label_links (label_id, noteable_id) select ${label.id}, max(id) from issues;
      insert into labels (project_id, title, color) values (${project.id}, 'inner', '#000000')`)
    const seen = async (as: Someone): Promise<unknown> => {
      const { headers, body } = await world().get(`/groups/${group.id}/labels?only_group_labels=false`, as)
      const list = body as { name: string; open_issues_count: number }[]
      return [
        headers['x-total'],
        ...list.map(({ name, open_issues_count }) => `${name} ${open_issues_count}`),
      ]
    }
    assert.deepEqual(await seen(outsider), ['1', 'bug 0'])
    assert.deepEqual(await seen(reader), ['2', 'bug 1', 'inner 0'])
  })
})
