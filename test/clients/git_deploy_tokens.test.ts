import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { digestOf } from '../../src/access/tokens.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import { openGitClient, type GitClient, type Ran } from '../support/git_client.ts'
import { gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import { rowsOf } from '../support/rows.ts'
import { openWorld, type World } from '../support/world.ts'

// The real git with deploy tokens.

let world: World
let client: GitClient
let source: string
let project: Project
let hidden: Project
before(async () => {
  world = await openWorld()
  client = await openGitClient(world)
  source = join(scratch(), 'source.git')
  writeHistory(source, 60, 1)
  const group = await world.make.group()
  project = await world.make.project({ group, repository: source })
  hidden = await world.make.project({ repository: source })
  const add = (name: string, parent: string, scope = 'read_repository'): Promise<unknown> =>
    rowsOf(
      world,
      `insert into deploy_tokens (${parent}, name, username, digest, scopes) values ($1, $2, $2, $3, array[$4])`,
      [parent === 'project_id' ? project.id : group.id, name, digestOf(`gldt-${name}`), scope],
    )
  await add('one', 'project_id')
  await add('all', 'namespace_id')
  await add('packages', 'project_id', 'write_package_registry')
})
after(() => world.close())

const url = ({ full_path }: Project, name: string, user = name): string =>
  `http://${user}:gldt-${name}@127.0.0.1:${client.port}/${full_path}.git`
let count = 0
const clone = (from: string): Promise<Ran> =>
  client.run(client.place, ['clone', '--quiet', '--bare', from, `clone-${++count}`])

test('git clones with the name and token of the project or of a group above, and pushes nothing', async () => {
  for (const name of ['one', 'all']) {
    assert.deepEqual(await clone(url(project, name)), { code: 0, out: '', told: '' })
    const directory = join(client.place, `clone-${count}`)
    assert.equal(gitText(directory, ['rev-parse', 'HEAD']), gitText(source, ['rev-parse', 'HEAD']))
    const pushed = await client.run(directory, ['push', 'origin', 'HEAD:refs/heads/new'])
    assert.equal(pushed.code === 0, false)
    assert.match(pushed.told, /You are not allowed to upload code\./)
    assert.match((await clone(url(hidden, name))).told, /could not be found|not found/)
  }
})

test('git is denied with another user name, scope or with a token that ended', async () => {
  const isDenied = async (from: string): Promise<void> =>
    assert.match((await clone(from)).told, /HTTP Basic: Access denied/)
  await isDenied(url(project, 'one', 'other'))
  await isDenied(url(project, 'packages'))
  await world.make.sql(`
    update deploy_tokens set revoked = true where name = 'one';
    update deploy_tokens set expires_at = now() where name = 'all'`)
  for (const name of ['one', 'all']) await isDenied(url(project, name))
})
