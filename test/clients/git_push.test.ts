import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { repositoryPath } from '../../src/core/places/projects.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import { openGitClient, type GitClient, type Ran } from '../support/git_client.ts'
import {
  cloneMaker,
  freshPath,
  heard,
  refsOf,
  remoteOf,
  tip,
  verdicts,
  type Clone,
  type MakeClone,
} from '../support/git_clones.ts'
import { gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import { openWorld, type World } from '../support/world.ts'

// The real git pushes.

let world: World
let client: GitClient
let source: string
let clone: MakeClone
before(async () => {
  world = await openWorld()
  client = await openGitClient(world)
  source = join(scratch(), 'source.git')
  writeHistory(source, 60, 5)
  clone = cloneMaker(world, client, source)
})
after(() => world.close())

const fsck = (directory: string): string => gitText(directory, ['fsck', '--full', '--no-dangling'])

test('a push moves a branch, and its project hears of it', async () => {
  const one = await clone('maintainer')
  await world.make.sql(`update projects set last_activity_at = '2020-01-01' where id = ${one.project.id}`)
  const sha = await one.commit('pushed')
  const ran = await one.push('origin', 'main')
  assert.equal(ran.code, 0, ran.told)
  assert.equal(tip(one.remote, 'refs/heads/main'), sha)
  assert.equal(fsck(one.remote), '')
  const { recent } = await rowOf<{ recent: boolean }>(
    world,
    `select last_activity_at > now() - interval '1 hour' as recent from projects where id = $1`,
    [one.project.id],
  )
  assert.equal(recent, true)
  const listed = await world.get(`/projects/${one.project.id}/repository/commits?per_page=1`, one.as)
  assert.deepEqual(
    (listed.body as { id: string }[]).map(({ id }) => id),
    [sha],
  )
})

test('branches and tags are made, moved, forced and deleted by a Developer where nothing protects them', async () => {
  const one = await clone('developer')
  const first = await one.commit('first')
  await one.git('tag', '-a', '-m', 'annotated', 'v9')
  const made = await one.push('origin', 'HEAD:refs/heads/topic/a', 'v9', 'HEAD:refs/tags/light9')
  assert.equal(made.code, 0, made.told)
  assert.equal(tip(one.remote, 'refs/heads/topic/a'), first)
  assert.equal(tip(one.remote, 'refs/tags/v9'), await one.git('rev-parse', 'v9'))
  await one.git('commit', '--quiet', '--amend', '-m', 'amended')
  assert.equal((await one.push('origin', 'HEAD:topic/a')).code, 1)
  assert.equal((await one.push('--force', 'origin', 'HEAD:topic/a')).code, 0)
  assert.equal(tip(one.remote, 'refs/heads/topic/a'), await one.git('rev-parse', 'HEAD'))
  assert.equal((await one.push('--delete', 'origin', 'topic/a', 'v9')).code, 0)
  assert.deepEqual(
    refsOf(one.remote).filter((line) => /topic|v9/.test(line)),
    [],
  )
  assert.equal(fsck(one.remote), '')
})

test('the first push makes the default branch, which is protected from then on', async () => {
  const one = await clone('maintainer', { repository: 'empty' })
  await one.git('checkout', '--quiet', '-b', 'trunk')
  await one.commit('first')
  const ran = await one.push('origin', 'trunk')
  assert.equal(ran.code, 0, ran.told)
  assert.equal(gitText(one.remote, ['symbolic-ref', 'HEAD']), 'refs/heads/trunk')
  assert.deepEqual(
    await rowsOf(world, 'select default_branch from projects where id = $1', [one.project.id]),
    [{ default_branch: 'trunk' }],
  )
  assert.deepEqual(
    await rowsOf(world, 'select name from protected_branches where project_id = $1', [one.project.id]),
    [{ name: 'trunk' }],
  )
})

test('a Developer does not make the first commit of a project whose default branch will be protected', async () => {
  const one = await clone('developer', { repository: 'empty' })
  await one.commit('first')
  const ran = await one.push('origin', 'main')
  assert.deepEqual(heard(ran), [
    `A default branch (e.g. main) does not yet exist for ${one.project.full_path}`,
    'Ask a project Owner or Maintainer to create a default branch:',
    '',
    `  https://guild.example/${one.project.full_path}/-/project_members`,
  ])
  assert.deepEqual(verdicts(ran), [
    '!\trefs/heads/main:refs/heads/main\t[remote rejected] (pre-receive hook declined)',
  ])
  assert.deepEqual(refsOf(one.remote), [])
})

const protect = (project: Project, name: string, values: object = {}): Promise<unknown> =>
  world.make
    .admin()
    .then((as) =>
      world.call('POST', `/projects/${project.id}/protected_branches`, { as, body: { name, ...values } }),
    )

test('a protected branch keeps out whom it should, in words', async () => {
  const project = await world.make.project({ repository: source })
  await protect(project, 'safe/*')
  await protect(project, 'merged', { push_access_level: 0, merge_access_level: 30 })
  await protect(project, 'open', { push_access_level: 30 })
  const developer = await clone('developer', { project })
  const maintainer = await clone('maintainer', { project })
  gitText(remoteOf(world, project), ['update-ref', 'refs/heads/safe/old', 'main~1'])
  const before = refsOf(remoteOf(world, project))
  const rows: [Clone, string[], string][] = [
    [developer, ['HEAD:main'], 'You are not allowed to push code to protected branches on this project.'],
    [developer, ['HEAD:safe/new'], 'You are not allowed to create protected branches on this project.'],
    [developer, ['HEAD:merged'], 'You can only create protected branches using the web interface and API.'],
    [
      developer,
      ['--delete', 'safe/old'],
      'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
    ],
    [maintainer, ['--delete', 'safe/old'], 'You can only delete protected branches using the web interface.'],
    [maintainer, ['--delete', 'main'], 'The default branch of a project cannot be deleted.'],
    [
      maintainer,
      ['--force', 'HEAD~3:safe/old'],
      'You are not allowed to force push code to a protected branch on this project.',
    ],
    [
      maintainer,
      [`HEAD:refs/heads/${'a'.repeat(40)}`],
      'You cannot create a branch with a 40-character hexadecimal branch name.',
    ],
    [maintainer, ['HEAD:refs/tags/main'], 'You cannot use default branch name to create a tag'],
    [
      maintainer,
      [`HEAD:refs/tags/${'b'.repeat(40)}x`],
      'You cannot create a tag with a SHA-1 or SHA-256 tag name.',
    ],
  ]
  for (const one of [developer, maintainer]) await one.commit('new')
  for (const [one, [first = '', ...rest], words] of rows) {
    const args = first.startsWith('--') ? [first, 'origin', ...rest] : ['origin', first, ...rest]
    const ran = await one.push(...args)
    assert.deepEqual([ran.code, heard(ran)], [1, [words]], args.join(' '))
    assert.match(verdicts(ran)[0] ?? '', /\[remote rejected\] \(.+\)$/)
    assert.ok(verdicts(ran)[0]?.endsWith(`(${words})`))
  }
  assert.deepEqual(refsOf(remoteOf(world, project)), before)
  assert.equal((await developer.push('origin', 'HEAD:open')).code, 0)
  assert.equal((await maintainer.push('origin', 'HEAD:safe/new')).code, 0)
})

test('a protected branch that allows it is forced', async () => {
  const one = await clone('maintainer')
  await world.make.sql(
    `update protected_branches set allow_force_push = true where project_id = ${one.project.id}`,
  )
  await one.git('reset', '--quiet', '--hard', 'HEAD~2')
  const ran = await one.push('--force', 'origin', 'main')
  assert.equal(ran.code, 0, ran.told)
  assert.equal(tip(one.remote, 'refs/heads/main'), await one.git('rev-parse', 'HEAD'))
})

test('a branch that is protected while the pack is on its way keeps it out', async () => {
  const here = await clone('developer')
  const sha = await here.commit('late')
  const repository = world.opened.instance.git.repository(repositoryPath(here.project.id))
  let pushed: Promise<Ran> | undefined
  await repository.locked(['refs/heads/topic'], async () => {
    pushed = here.push('origin', 'HEAD:refs/heads/topic')
    while ((await repository.commit(sha)) === undefined) await sleep(5)
    await world.make.sql(`
      with p as (insert into protected_branches (project_id, name) values (${here.project.id}, 'topic') returning id)
      insert into protected_branch_levels (protected_branch_id, action, access_level) select id, 'push', 40 from p`)
  })
  const ran = await pushed
  assert.notEqual(ran?.code, 0)
  assert.match(`${ran?.out}${ran?.told}`, /the rules of this project changed meanwhile; push again/)
  assert.equal(await repository.ref('refs/heads/topic'), undefined)
})

test('a push lands only while its caller may still push', async () => {
  const NOT_NOW = 'You are not allowed to push code to this project.'
  const HIDDEN =
    "The project you were looking for could not be found or you don't have permission to view it."
  const DENIED = 'HTTP Basic: Access denied.'
  const changes: [(one: Clone) => string, string][] = [
    [({ as }) => `delete from members where user_id = ${as.id}`, HIDDEN],
    [({ as }) => `update members set access_level = 20 where user_id = ${as.id}`, NOT_NOW],
    [({ as }) => `update members set expires_at = today() where user_id = ${as.id}`, HIDDEN],
    [({ as }) => `update personal_access_tokens set revoked = true where user_id = ${as.id}`, DENIED],
    [({ as }) => `update users set state = 'blocked' where id = ${as.id}`, DENIED],
    [({ project }) => `update projects set archived = true where id = ${project.id}`, NOT_NOW],
  ]
  for (const [change, words] of changes) {
    const here = await clone('developer')
    const sha = await here.commit('late')
    const repository = world.opened.instance.git.repository(repositoryPath(here.project.id))
    let pushed: Promise<Ran> | undefined
    await repository.locked(['refs/heads/topic'], async () => {
      pushed = here.push('origin', 'HEAD:refs/heads/topic')
      while ((await repository.commit(sha)) === undefined) await sleep(5)
      await world.make.sql(change(here))
    })
    const ran = await pushed
    assert.notEqual(ran?.code, 0)
    assert.ok(`${ran?.out}${ran?.told}`.includes(words), `${change(here)}: ${ran?.out}${ran?.told}`)
    assert.equal(await repository.ref('refs/heads/topic'), undefined)
  }
})

test('of a push that is refused in part nothing is taken, and each ref says why', async () => {
  const one = await clone('developer')
  const before = refsOf(one.remote)
  await one.commit('new')
  const ran = await one.push('origin', 'HEAD:topic', 'HEAD:main')
  assert.deepEqual(verdicts(ran).toSorted(), [
    '!\tHEAD:refs/heads/main\t[remote rejected] (You are not allowed to push code to protected branches on this project.)',
    '!\tHEAD:refs/heads/topic\t[remote rejected] (pre-receive hook declined)',
  ])
  assert.deepEqual(refsOf(one.remote), before)
  assert.deepEqual(
    readdirSync(join(one.remote, 'objects')).filter((name) => name.startsWith('tmp_')),
    [],
  )
})

test('an atomic push moves all refs or none, any other those that can be', async () => {
  const one = await clone('developer')
  await one.commit('new')
  gitText(one.remote, ['update-ref', 'refs/heads/dir/inside', 'main'])
  const before = refsOf(one.remote)
  const atomic = await one.push('--atomic', 'origin', 'HEAD:refs/heads/free', 'HEAD:refs/heads/dir')
  assert.equal(atomic.code, 1)
  assert.deepEqual(refsOf(one.remote), before)
  const each = await one.push('origin', 'HEAD:refs/heads/free', 'HEAD:refs/heads/dir')
  assert.deepEqual(verdicts(each).toSorted(), [
    '!\tHEAD:refs/heads/dir\t[remote rejected] (failed to update ref)',
    '*\tHEAD:refs/heads/free\t[new branch]',
  ])
  assert.equal(tip(one.remote, 'refs/heads/free'), await one.git('rev-parse', 'HEAD'))
})

test('a push of six hundred refs moves them all, and takes them away again', async () => {
  const one = await clone('developer')
  const head = await one.git('rev-parse', 'HEAD')
  const lines = Array.from({ length: 600 }, (_, index) => `create refs/tags/many/${index} ${head}\n`)
  gitText(join(one.directory, '.git'), ['update-ref', '--stdin'], lines.join(''))
  const before = refsOf(one.remote).length
  const ran = await one.push('--quiet', 'origin', 'refs/tags/many/*')
  assert.equal(ran.code, 0, ran.told)
  assert.equal(refsOf(one.remote).length, before + 600)
  gitText(
    join(one.directory, '.git'),
    ['update-ref', '--stdin'],
    lines.join('').replaceAll('create', 'delete'),
  )
  const pruned = await one.push('--quiet', '--prune', 'origin', 'refs/tags/many/*')
  assert.equal(pruned.code, 0, pruned.told)
  assert.equal(refsOf(one.remote).length, before)
})

test('push options are taken, and those about merge requests say what becomes of them', async () => {
  const one = await clone('developer')
  await one.commit('new')
  const ran = await one.push('-o', 'ci.skip', '-o', 'x=ümläut', 'origin', 'HEAD:opted')
  assert.equal(ran.code, 0)
  assert.match(heard(ran).join('\n'), /The push options x are not supported and were passed over\./)
  const options = ['-o', 'merge_request.create', '-o', 'merge_request.review=x']
  const asked = await one.push(...options, 'origin', 'HEAD:asked')
  assert.equal(asked.code, 0)
  assert.match(
    heard(asked).join('\n'),
    /The push options merge_request\.review are not supported and were passed over\.[^]*The merge request follows the push options in a moment:[^]*\/merge_requests\?state=opened/,
  )
})

test('push options that will be refused are reported with the push, which lands', async () => {
  const one = await clone('developer')
  await one.commit('new')
  for (const [option, fault] of [
    ['merge_request.target=nowhere', 'Branch nowhere does not exist'],
    ['merge_request.target_project=no/where', 'Project no/where was not found'],
    ['ci.variable=a b=c', 'ci.variable takes KEY=VALUE'],
  ] as const) {
    const branch = `refused-${fault.length}`
    const ran = await one.push('-o', 'merge_request.create', '-o', option, 'origin', `HEAD:${branch}`)
    assert.equal(ran.code, 0, ran.told)
    assert.match(heard(ran).join('\n'), new RegExp(`Error encountered with push options: ${fault}`))
    assert.doesNotMatch(heard(ran).join('\n'), /in a moment|a b=c/)
  }
})

test('clients without side bands and report-status are served', async () => {
  const one = await clone('developer')
  await one.commit('new')
  const ran = await client.run(one.directory, ['-c', 'protocol.version=0', 'push', 'origin', 'HEAD:old'])
  assert.equal(ran.code, 0, ran.told)
})

test('a push of many megabytes comes in pieces and arrives whole', async () => {
  const one = await clone('developer')
  const content = randomBytes(6 * 1024 * 1024)
  await one.commit('big', 'big.bin', content)
  const ran = await one.push('origin', 'HEAD:big')
  assert.equal(ran.code, 0, ran.told)
  assert.equal(gitText(one.remote, ['rev-parse', 'big:big.bin']), await one.git('rev-parse', 'HEAD:big.bin'))
  assert.equal(fsck(one.remote), '')
})

test('a push of hundreds of objects stays one pack', async () => {
  const one = await clone('developer')
  for (let i = 0; i < 150; i++) writeFileSync(join(one.directory, `many-${i}`), randomBytes(9))
  await one.commit('many')
  const packs = (): number =>
    readdirSync(join(one.remote, 'objects/pack')).filter((name) => name.endsWith('.pack')).length
  const before = packs()
  assert.equal((await one.push('origin', 'HEAD:many')).code, 0)
  assert.equal(packs(), before + 1)
  assert.equal(fsck(one.remote), '')
})

test('a shallow clone pushes what it added', async () => {
  const one = await clone('developer')
  const shallow = freshPath(client)
  await client.git(
    client.place,
    'clone',
    '--quiet',
    '--depth=1',
    client.url(one.project.full_path, one.as),
    shallow,
  )
  await client.git(shallow, 'commit', '--quiet', '--allow-empty', '-m', 'from the shallows')
  await client.git(shallow, 'push', '--quiet', 'origin', 'HEAD:shallow')
  assert.equal(fsck(one.remote), '')
  assert.equal(gitText(one.remote, ['rev-parse', 'shallow~1']), gitText(source, ['rev-parse', 'main']))
})

test('a tree that holds .git is refused, and nothing of it kept', async () => {
  const one = await clone('developer')
  const before = refsOf(one.remote)
  const blob = gitText(join(one.directory, '.git'), ['hash-object', '-w', '--stdin'], 'evil')
  const inner = gitText(join(one.directory, '.git'), ['mktree'], `100644 blob ${blob}\tconfig\n`)
  const tree = gitText(join(one.directory, '.git'), ['mktree'], `040000 tree ${inner}\t.git\n`)
  const sha = gitText(join(one.directory, '.git'), ['commit-tree', '-m', 'evil', tree])
  const ran = await one.push('origin', `${sha}:refs/heads/evil`)
  assert.equal(ran.code, 1)
  assert.match(heard(ran)[0] ?? '', /^error: object [0-9a-f]{40}: hasDotgit: contains '\.git'$/)
  assert.deepEqual(verdicts(ran), [`!\t${sha}:refs/heads/evil\t[remote rejected] (unpacker error)`])
  assert.deepEqual(refsOf(one.remote), before)
  assert.deepEqual(
    readdirSync(join(one.remote, 'objects')).filter((name) => name.startsWith('tmp_')),
    [],
  )
  assert.throws(() => gitText(one.remote, ['cat-file', '-e', sha]))
})

test('a push without the right is refused before the pack is sent', async () => {
  const project = await world.make.project({ visibility: 'public', repository: source })
  const reporter = await clone('reporter', { project })
  const reads = await world.make.token(await world.make.memberOf('developer', { project }), {
    scopes: ['read_repository'],
  })
  const archived = await clone('maintainer')
  await world.make.sql(`update projects set archived = true where id = ${archived.project.id}`)
  const rows: [Clone, string, string][] = [
    [reporter, 'origin', 'You are not allowed to push code to this project.'],
    [reporter, client.url(project.full_path, { token: reads }), 'You are not allowed to upload code.'],
    [archived, 'origin', 'You are not allowed to push code to this project.'],
  ]
  for (const [one, to, words] of rows) {
    const before = refsOf(one.remote)
    await one.commit('new')
    const ran = await one.push(to, 'HEAD:topic')
    assert.deepEqual([ran.code, heard(ran)], [128, [words]])
    assert.deepEqual(refsOf(one.remote), before)
  }
  const nobody = await reporter.push(client.url(project.full_path), 'HEAD:topic')
  assert.match(nobody.told, /could not read Username/)
})

test('mergers push to the source branch of a fork where collaboration is allowed, and nowhere else', async () => {
  const { make } = world
  const home = await make.project({ visibility: 'public', repository: source })
  const fork = await make.project({ visibility: 'public', repository: source })
  await make.sql(`
    update projects set forked_from_project_id = ${home.id} where id = ${fork.id};
    insert into merge_requests (iid, project_id, source_project_id, title, source_branch, target_branch, allow_collaboration)
    values (1, ${home.id}, ${fork.id}, 'Together', 'topic', 'main', true)`)
  const one = await clone('reporter', { project: fork })
  await make.member(one.as, 'maintainer', { project: home })
  const sha = await one.commit('new')
  const NO = '(You are not allowed to push code to this project.)'
  const refused = await one.push('origin', 'HEAD:other', 'HEAD:refs/tags/v9')
  assert.deepEqual(verdicts(refused), [
    `!\tHEAD:refs/heads/other\t[remote rejected] ${NO}`,
    `!\tHEAD:refs/tags/v9\t[remote rejected] ${NO}`,
  ])
  assert.equal((await one.push('origin', 'HEAD:topic')).code, 0)
  assert.equal(tip(one.remote, 'refs/heads/topic'), sha)
  assert.deepEqual(verdicts(await one.push('origin', ':topic')), [
    `!\t:refs/heads/topic\t[remote rejected] ${NO}`,
  ])
})

test('a push by alias goes where the alias points', async () => {
  const one = await clone('developer')
  await world.make.sql(`insert into project_aliases (project_id, name) values (${one.project.id}, 'nick')`)
  const sha = await one.commit('new')
  assert.equal((await one.push(client.url('nick.git', one.as), 'HEAD:by-alias')).code, 0)
  assert.equal(tip(one.remote, 'refs/heads/by-alias'), sha)
})
