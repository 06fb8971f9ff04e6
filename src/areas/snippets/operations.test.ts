import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

let project: Project
let writer: Someone
const world = sharedWorld(async ({ make }) => {
  project = await make.project({
    visibility: 'public',
    path: 'app',
    group: await make.group({ path: 'harbour', visibility: 'public' }),
  })
  writer = await make.memberOf('reporter', { project })
})

const at = (path = ''): string => `/projects/${project.id}/snippets${path}`
const create = (body: object, as = writer): Promise<Answered> => world().call('POST', at(), { as, body })

test('a snippet is answered whole', async () => {
  const made = await create({
    title: 'Notes',
    file_name: 'notes.md',
    content: '# Hm\n',
    visibility: 'public',
  })
  assert.equal(made.status, 201)
  const { id, created_at, updated_at, author, ...rest } = made.body as Record<string, unknown>
  const web_url = `https://guild.example/harbour/app/-/snippets/${String(id)}`
  assert.deepEqual(rest, {
    title: 'Notes',
    description: null,
    visibility: 'public',
    imported: false,
    imported_from: 'none',
    project_id: project.id,
    web_url,
    raw_url: `${web_url}/raw`,
    file_name: 'notes.md',
    files: [{ path: 'notes.md', raw_url: `${web_url}/raw/main/notes.md` }],
  })
  assert.equal(created_at, updated_at)
  assert.equal((author as { username: string }).username, writer.username)
  const raw = await world().get(at(`/${String(id)}/raw`))
  assert.deepEqual(
    [raw.status, raw.text, raw.headers['content-type']],
    [200, '# Hm\n', 'text/plain; charset=utf-8'],
  )
})

suite('who sees which', () => {
  test('a private one is for members and its author, in lists, totals and by itself', async () => {
    const { make, get } = world()
    const [guest, stranger, outside] = [
      await make.memberOf('guest', { project }),
      await make.user(),
      await make.user(),
    ]
    await make.sql(`update users set external = true where id = ${outside.id}`)
    const ids: Record<string, number> = {}
    for (const visibility of ['private', 'internal', 'public'])
      ids[visibility] = (
        (await create({ title: visibility, content: 'x', visibility })).body as { id: number }
      ).id
    const sees = async (as: Someone | undefined): Promise<string[]> => {
      const list = await get(at('?per_page=100'), as)
      assert.equal(list.headers['x-total'], String((list.body as unknown[]).length))
      const listed = (list.body as { id: number; title: string }[]).filter(({ id }) =>
        Object.values(ids).includes(id),
      )
      for (const [title, id] of Object.entries(ids)) {
        const isListed = listed.some((one) => one.id === id)
        for (const path of [`/${id}`, `/${id}/raw`, `/${id}/files/main/snippetfile1.txt/raw`])
          assert.equal((await get(at(path), as)).status, isListed ? 200 : 404, `${title} ${path}`)
      }
      return listed.map(({ title }) => title)
    }
    assert.deepEqual(await sees(guest), ['public', 'internal', 'private'])
    assert.deepEqual(await sees(stranger), ['public', 'internal'])
    assert.deepEqual(await sees(outside), ['public'])
    assert.deepEqual(await sees(undefined), ['public'])
  })

  test('where snippets are switched off there are none', async () => {
    const { make, get } = world()
    const { id } = (await create({ title: 'x', content: 'x', visibility: 'public' })).body as { id: number }
    await make.sql(
      `update projects set settings = settings || '{"snippets_access_level":"disabled"}' where id = ${project.id}`,
    )
    assert.deepEqual((await get(at(), writer)).body, { message: '403 Forbidden' })
    assert.deepEqual((await get(at(`/${id}`), writer)).body, { message: '404 Not found' })
    assert.equal((await create({ title: 'x', content: 'x' })).status, 403)
    await make.sql(
      `update projects set settings = settings - 'snippets_access_level' where id = ${project.id}`,
    )
  })
})

suite('files', () => {
  const files = async (id: number): Promise<string[]> =>
    ((await world().get(at(`/${id}`), writer)).body as { files: { path: string }[] }).files.map(
      ({ path }) => path,
    )

  test('they are made, changed, renamed and removed one after the other', async () => {
    const given = [
      { file_path: 'a', content: 'a' },
      { file_path: 'b', content: 'b' },
    ]
    const { id } = (await create({ title: 'Many', files: given })).body as { id: number }
    const actions = [
      { action: 'create', content: 'named for me' },
      { action: 'move', previous_path: 'a', file_path: 'deep/ä.txt' },
      { action: 'delete', file_path: 'b' },
    ]
    const changed = await world().call('PUT', at(`/${id}`), { as: writer, body: { files: actions } })
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual(await files(id), ['deep/ä.txt', 'snippetfile1.txt'])
    const raw = await world().get(at(`/${id}/files/main/${encodeURIComponent('deep/ä.txt')}/raw`), writer)
    assert.equal(raw.text, 'a')
    assert.deepEqual((await world().get(at(`/${id}/files/other/snippetfile1.txt/raw`), writer)).body, {
      message: '404 File Not Found',
    })
  })

  for (const [what, body, status, said] of [
    [
      'neither text nor files',
      { title: 'x' },
      400,
      { error: 'files, content are missing, exactly one parameter must be provided' },
    ],
    [
      'both',
      { title: 'x', content: 'x', files: [{ file_path: 'a', content: 'a' }] },
      400,
      { error: 'files, content are mutually exclusive' },
    ],
    ['an empty text', { title: 'x', content: ' ' }, 400, { error: 'content is empty' }],
    ['a blank title', { title: ' ', content: 'x' }, 400, { message: { title: ["can't be blank"] } }],
    [
      'a long title',
      { title: 'x'.repeat(256), content: 'x' },
      400,
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ],
    ['a way out', { title: 'x', content: 'x', file_name: '../x' }, 400, { message: 'Invalid file path' }],
    [
      'a name twice',
      {
        title: 'x',
        files: [
          { file_path: 'a', content: '' },
          { file_path: 'a', content: '' },
        ],
      },
      400,
      { message: 'A file with this name already exists' },
    ],
    [
      'an unknown visibility',
      { title: 'x', content: 'x', visibility: 'secret' },
      400,
      { error: 'visibility does not have a valid value' },
    ],
    [
      'eleven files',
      { title: 'x', files: Array.from({ length: 11 }, (_, i) => ({ file_path: `f${i}`, content: '' })) },
      400,
      { message: 'Snippets can have at most 10 files' },
    ],
  ] as const)
    test(`a snippet with ${what} is refused, and nothing is kept`, async () => {
      const before = await contents(world())
      const answer = await create(body)
      assert.deepEqual([answer.status, answer.body], [status, said])
      assert.equal(await contents(world()), before)
    })

  test('of several files none is meant by a text alone', async () => {
    const given = ['a', 'b'].map((name) => ({ file_path: name, content: name }))
    const { id } = (await create({ title: 'Two', files: given })).body as { id: number }
    const answer = await world().call('PUT', at(`/${id}`), { as: writer, body: { content: 'x' } })
    assert.equal(answer.status, 400)
    assert.deepEqual(await files(id), ['a', 'b'])
  })
})

test('a page takes as many statements for one as for many', async () => {
  const count = async (size: number): Promise<number> =>
    (await world().statements(() => world().get(at(`?per_page=${size}`), writer))).length
  await count(1)
  assert.equal(await count(50), await count(1))
})
