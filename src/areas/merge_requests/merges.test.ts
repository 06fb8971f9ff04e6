import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { changeMergeRequest } from '../../core/merge_requests/changes.ts'
import { compareAgain } from '../../core/merge_requests/moves.ts'
import { reconcileMarked } from '../../core/pushes/reconciler.ts'
import { gitLines, gitText } from '../../../test/support/git_fixtures.ts'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { outside } from '../../../test/support/git_outside.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let shop: Workshop
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
})

interface Merged {
  readonly state: string
  readonly sha: string
  readonly merge_commit_sha: string | null
  readonly squash_commit_sha: string | null
  readonly detailed_merge_status: string
  readonly has_conflicts: boolean
  readonly merge_error: string | null
  readonly merge_user: { readonly username: string } | null
}
const merge = (iid: number, body: object = {}): ReturnType<Workshop['ask']> =>
  shop.ask('PUT', `/${iid}/merge`, { body })
const get = async (iid: number): Promise<Merged> => (await shop.ask('GET', `/${iid}`)).body as Merged
const parentsOf = (sha: string): string[] =>
  gitText(shop.directory, ['show', '-s', '--format=%P', sha]).split(' ')
const messageOf = (sha: string): string =>
  gitText(shop.directory, ['show', '-s', '--format=%B', sha]).trimEnd()

test('a merge makes a commit of both branches, with the published message, and says so everywhere', async () => {
  const iid = await shop.open('plain', { description: 'Nothing to close' })
  const [tip, head] = [await shop.tip('main'), await shop.tip('plain')]
  const answer = await merge(iid)
  assert.equal(answer.status, 200, answer.text)
  const { state, merge_commit_sha: sha, squash_commit_sha, merge_user } = answer.body as Merged
  assert.deepEqual([state, squash_commit_sha, merge_user?.username], ['merged', null, shop.owner.username])
  assert.ok(sha)
  assert.equal(await shop.tip('main'), sha)
  assert.deepEqual(parentsOf(sha), [tip, head])
  assert.equal(
    messageOf(sha),
    `Merge branch 'plain' into 'main'\n\nThe plain\n\nSee merge request ${shop.project.full_path}!${iid}`,
  )
  const events = await rowsOf<{ state: string }>(
    world(),
    'select e.state from resource_state_events e join merge_requests m on m.id = e.noteable_id where m.iid = $1 and m.project_id = $2',
    [iid, shop.project.id],
  )
  assert.deepEqual(events, [{ state: 'merged' }])
  const found = await world().get(
    `/projects/${shop.project.id}/repository/commits/${head}/merge_requests`,
    shop.owner,
  )
  assert.deepEqual(
    (found.body as { iid: number }[]).map((one) => one.iid),
    [iid],
  )
})

test('a squash is one commit where the branch parted, by its author, and a merge of it', async () => {
  const iid = await shop.open('squashed')
  await shop.commit('squashed', { 'more.txt': 'more\n' })
  const [tip, head] = [await shop.tip('main'), await shop.tip('squashed')]
  const answer = await merge(iid, { squash: true, squash_commit_message: 'All in one' })
  const { merge_commit_sha: sha, squash_commit_sha: squash } = answer.body as Merged
  assert.ok(sha && squash)
  assert.deepEqual(parentsOf(sha), [tip, squash])
  assert.deepEqual(parentsOf(squash), [tip])
  assert.equal(messageOf(squash), 'All in one')
  const { squash: wished, squash_on_merge: done } = answer.body as Record<string, unknown>
  assert.deepEqual([wished, done], [true, true])
  assert.equal(gitText(shop.directory, ['diff', head, squash]), '')
})

test('a message of blanks is none that was given', async () => {
  const iid = await shop.open('wordless')
  const blanks = { merge_commit_message: '  ', squash_commit_message: ' \n', squash: true }
  const { merge_commit_sha: sha, squash_commit_sha: squash } = (await merge(iid, blanks)).body as Merged
  assert.ok(sha && squash)
  assert.equal(messageOf(squash), 'The wordless')
  assert.match(messageOf(sha), /^Merge branch 'wordless' into 'main'/)
})

test('a project that merges by moving forward makes no merge commit, and wants a rebase first', async () => {
  const { make } = world()
  const settings = (method: string): Promise<void> =>
    make.sql(
      `update projects set settings = settings || '{"merge_method":"${method}"}' where id = ${shop.project.id}`,
    )
  const iid = await shop.open('forward')
  const late = await shop.open('late')
  await settings('ff')
  const head = await shop.tip('forward')
  const answer = await merge(iid)
  assert.deepEqual([answer.status, (answer.body as Merged).merge_commit_sha], [200, null])
  assert.equal(await shop.tip('main'), head)
  const refused = await merge(late)
  assert.deepEqual([refused.status, refused.body], [422, { message: 'Branch cannot be merged' }])
  await settings('merge')
})

test('an impossible merge gets the published refusal and changes nothing', async () => {
  const [closed, draft] = [await shop.open('closed'), await shop.open('draft', { title: 'Draft: not yet' })]
  await shop.ask('PUT', `/${closed}`, { body: { state_event: 'close' } })
  const conflict = await shop.open('conflict')
  await shop.commit('conflict', { README: 'theirs\n' })
  await shop.commit('main', { README: 'ours\n' })
  const tip = await shop.tip('main')
  const notAllowed = { message: '405 Method Not Allowed' }
  for (const iid of [closed, draft]) {
    const answer = await merge(iid)
    assert.deepEqual([answer.status, answer.body], [405, notAllowed])
  }
  const answer = await merge(conflict)
  assert.deepEqual([answer.status, answer.body], [422, { message: 'Branch cannot be merged' }])
  const { detailed_merge_status, has_conflicts } = await get(conflict)
  assert.deepEqual([detailed_merge_status, has_conflicts], ['conflict', true])
  assert.equal(await shop.tip('main'), tip)
})

test('a merge of something else than was looked at is refused', async () => {
  const iid = await shop.open('watched')
  const seen = await shop.tip('watched')
  await shop.commit('watched', { 'watched.txt': 'changed\n' })
  const head = await shop.tip('watched')
  for (const sha of [seen, ''])
    for (const answer of [
      await merge(iid, { sha }),
      await shop.ask('POST', `/${iid}/approve`, { body: { sha } }),
    ])
      assert.deepEqual(
        [answer.status, answer.body],
        [409, { message: `SHA does not match HEAD of source branch: ${head}` }],
      )
  assert.equal((await merge(iid, { sha: head })).status, 200)
})

test('the source branch goes with the merge where that is asked, and what it held stays to be read', async () => {
  const iid = await shop.open('leaving')
  const head = await shop.tip('leaving')
  assert.equal((await merge(iid, { should_remove_source_branch: true, squash: true })).status, 200)
  assert.equal(await shop.tip('leaving'), '')
  assert.equal(gitText(shop.directory, ['rev-parse', `refs/merge-requests/${iid}/head`]), head)
  assert.equal(((await shop.ask('GET', `/${iid}/commits`)).body as unknown[]).length, 1)
})

suite('many at once', () => {
  for (const squash of [false, true])
    test(`of merges of one merge request ${squash ? 'with a squash ' : ''}one is done and the others are refused`, async () => {
      const iid = await shop.open(`raced-${squash}`)
      const before = gitLines(shop.directory, ['rev-list', 'main']).length
      const answers = await Promise.all(Array.from({ length: 10 }, () => merge(iid, { squash })))
      const statuses = answers.map(({ status }) => status).sort((a, b) => a - b)
      assert.deepEqual(statuses, [200, ...Array.from({ length: 9 }, () => 405)])
      assert.equal(gitLines(shop.directory, ['rev-list', 'main']).length, before + 2)
    })

  test('ten branches are merged into one, and none is lost', async () => {
    const iids: number[] = []
    for (let i = 0; i < 10; i += 1) iids.push(await shop.open(`many-${i}`))
    const answers = await Promise.all(iids.map((iid) => merge(iid)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      iids.map(() => 200),
    )
    const merged = gitLines(shop.directory, ['branch', '--merged', 'main', '--format=%(refname:short)'])
    assert.equal(merged.filter((name) => name.startsWith('many-')).length, 10)
  })

  const others: [what: string, change: (iid: number) => Promise<unknown>][] = [
    ['closed', (iid) => shop.ask('PUT', `/${iid}`, { body: { state_event: 'close' } })],
    ['closed by a word', (iid) => shop.ask('POST', `/${iid}/notes`, { body: { body: '/close' } })],
    ['sent elsewhere', (iid) => shop.ask('PUT', `/${iid}`, { body: { target_branch: 'elsewhere' } })],
  ]
  for (const [what, change] of others)
    test(`a merge while it is ${what} happens or does not, and never half`, async () => {
      if ((await shop.tip('elsewhere')) === '') await shop.commit('elsewhere', { elsewhere: 'x' })
      let merges = 0
      for (let round = 0; round < 8; round += 1) {
        const iid = await shop.open(`between-${what.replaceAll(' ', '-')}-${round}`)
        const [answer] = await Promise.all([
          merge(iid),
          setTimeout(round * round * 4).then(() => change(iid)),
        ])
        const row = (await shop.ask('GET', `/${iid}`)).body as Merged & { target_branch: string }
        const merged = gitLines(shop.directory, [
          'branch',
          '--contains',
          row.sha,
          '--format=%(refname:short)',
        ])
        if (answer.status === 200) merges += 1
        assert.deepEqual(
          [row.state === 'merged', row.merge_commit_sha !== null, merged.includes('main')],
          [answer.status === 200, answer.status === 200, answer.status === 200],
          `${answer.text} and ${JSON.stringify(row)}`,
        )
        if (answer.status === 200) assert.equal(row.target_branch, 'main')
      }
      assert.ok(merges > 0)
    })

  test('a merge during the removal of its target branch is complete', async () => {
    for (let round = 0; round < 8; round += 1) {
      await shop.commit(`onto-${round}`, { [`onto ${round}`]: 'x' })
      const iid = await shop.open(`going-${round}`, { target_branch: `onto-${round}` })
      const [answer] = await Promise.all([
        merge(iid),
        setTimeout(round * round * 5).then(() =>
          world().call('DELETE', `/projects/${shop.project.id}/repository/branches/onto-${round}`, {
            as: shop.owner,
          }),
        ),
      ])
      assert.equal((await get(iid)).state === 'merged', answer.status === 200, answer.text)
    }
  })

  test('a push during reopening belongs to the merge request', async () => {
    const iid = await shop.open('again')
    await shop.ask('PUT', `/${iid}`, { body: { state_event: 'close' } })
    const { db } = world().opened.instance
    const [row] = await rowsOf<{ id: number }>(
      world(),
      'select id from merge_requests where iid = $1 and project_id = $2',
      [iid, shop.project.id],
    )
    const actor = shop.owner
    const project = { id: shop.project.id, traversal_ids: [] }
    const deed = { actor, project, now: new Date() }
    const head = await db.transaction(async (tx) => {
      await changeMergeRequest({ ...deed, db: tx }, row?.id ?? 0, { state: 'opened' })
      return outside(() => shop.commit('again', { 'again.txt': 'twice\n' }))
    })
    const jobs = await rowsOf(world(), 'select from graphile_worker.jobs where key = $1', [
      `compare_again ${row?.id}`,
    ])
    assert.equal(jobs.length, 1)
    await compareAgain.run(world().opened.instance, { id: row?.id ?? 0 })
    assert.equal((await get(iid)).sha, head)
  })

  test('a branch is pushed to while what it goes into changes', async () => {
    const iid = await shop.open('restless')
    for (let round = 0; round < 10; round += 1) {
      const target_branch = round % 2 === 0 ? 'elsewhere' : 'main'
      const [{ status, text }] = await Promise.all([
        shop.ask('PUT', `/${iid}`, { body: { target_branch } }),
        shop.commit('restless', { 'restless.txt': `${round}\n` }),
      ])
      assert.equal(status, 200, text)
    }
  })

  test('of requests of one branch one is made, and the others name it', async () => {
    await shop.commit('wanted', { wanted: 'x' })
    const body = { source_branch: 'wanted', target_branch: 'main', title: 'x' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => shop.ask('POST', '', { body })))
    const made = answers.filter(({ status }) => status === 201)
    assert.equal(made.length, 1)
    const [{ iid } = { iid: 0 }] = made.map((one) => one.body as { iid: number })
    for (const { status, body: said } of answers.filter((one) => one.status !== 201))
      assert.deepEqual(
        [status, said],
        [409, { message: [`Another open merge request already exists for this source branch: !${iid}`] }],
      )
  })
})

test('pushing the source branch to the target merges the merge request', async () => {
  const iid = await shop.open('by-hand')
  const head = await shop.tip('by-hand')
  await shop.repository.moveRefs([{ ref: 'refs/heads/kept', from: undefined, to: await shop.tip('main') }])
  const other = await shop.open('fresh')
  const picked = await world().call('POST', `/projects/${shop.project.id}/repository/branches`, {
    as: shop.owner,
    body: { branch: 'onto', ref: 'by-hand' },
  })
  assert.equal(picked.status, 201)
  // A merge request of the same commits into a branch that then holds them.
  await shop.ask('PUT', `/${iid}`, { body: { target_branch: 'kept' } })
  const second = await shop.ask('POST', '', {
    body: { source_branch: 'by-hand', target_branch: 'main', title: 'Again' },
  })
  assert.equal((await merge((second.body as { iid: number }).iid)).status, 200)
  assert.equal((await get(iid)).state, 'opened')
  const into = await shop.ask('POST', '', {
    body: { source_branch: 'main', target_branch: 'kept', title: 'All of main' },
  })
  assert.equal((await merge((into.body as { iid: number }).iid)).status, 200)
  const { state, merge_commit_sha, sha } = await get(iid)
  assert.equal(state, 'merged')
  assert.equal(sha, head)
  assert.ok(merge_commit_sha)
  assert.ok(parentsOf(merge_commit_sha).includes(head) || merge_commit_sha === head)
  assert.equal((await get(other)).state, 'opened')
})

test('a crash between the ref and the rows is completed from the recorded intent', async () => {
  const { opened, make } = world()
  const iid = await shop.open('crashed')
  const merged = (await merge(iid, { squash: true })).body as Merged
  // As if the process had died behind the move: the row is open, and what was begun is still noted.
  await make.sql(`
    update merge_requests set state = 'opened', merged_at = null, merged_by_id = null, merge_commit_sha = null,
           squash_commit_sha = null where project_id = ${shop.project.id} and iid = ${iid};
    insert into merge_request_merges (merge_request_id, commit_sha, merge_commit_sha, squash_commit_sha, user_id)
    select id, '${merged.merge_commit_sha}', '${merged.merge_commit_sha}', '${merged.squash_commit_sha}', ${shop.owner.id}
      from merge_requests where project_id = ${shop.project.id} and iid = ${iid}`)
  assert.equal((await merge(iid, { squash: true })).status, 405)
  const mark = { file: '/dev/null/none', projectId: shop.project.id, first: false, since: new Date() }
  assert.deepEqual(await reconcileMarked(opened.instance, [mark], false), [])
  const { state, merge_commit_sha, squash_commit_sha, merge_user } = await get(iid)
  assert.deepEqual(
    [state, merge_commit_sha, squash_commit_sha, merge_user?.username],
    ['merged', merged.merge_commit_sha, merged.squash_commit_sha, shop.owner.username],
  )
})

test('issues that it names are closed when it is merged into the default branch', async () => {
  const { call, get: read } = world()
  const issues = `/projects/${shop.project.id}/issues`
  for (const title of ['One', 'Two', 'Three'])
    assert.equal((await call('POST', issues, { as: shop.owner, body: { title } })).status, 201)
  await shop.commit('closing', { closing: 'x' }, 'Work\n\nfixes #2')
  const iid = await shop.open('closing', { description: 'Closes #1, and mentions #3' })
  const named = (await shop.ask('GET', `/${iid}/closes_issues`)).body as { iid: number }[]
  assert.deepEqual(
    named.map((issue) => issue.iid),
    [1, 2],
  )
  const done = (await merge(iid)).body as Merged
  assert.match(messageOf(done.merge_commit_sha ?? ''), /\n\nCloses #1 and #2\n\nSee merge request /)
  const states = (await read(`${issues}?order_by=created_at&sort=asc`, shop.owner)).body as {
    state: string
  }[]
  assert.deepEqual(
    states.map(({ state }) => state),
    ['closed', 'closed', 'opened'],
  )
})

test('a rebase makes the commits again on top of the target, or tells why not', async () => {
  const iid = await shop.open('rebased')
  await shop.commit('rebased', { 'rebased.txt': 'again\n' }, 'A second one')
  const author = gitText(shop.directory, ['show', '-s', '--format=%an %ad', 'rebased'])
  await shop.commit('main', { 'meanwhile.txt': 'x\n' })
  const answer = await shop.ask('PUT', `/${iid}/rebase`)
  assert.deepEqual([answer.status, answer.body], [202, { rebase_in_progress: true }])
  assert.deepEqual(gitLines(shop.directory, ['log', '--format=%s', 'main..rebased']), [
    'A second one',
    'Write rebased.txt',
  ])
  assert.equal(gitText(shop.directory, ['merge-base', 'main', 'rebased']), await shop.tip('main'))
  assert.equal(gitText(shop.directory, ['show', '-s', '--format=%an %ad', 'rebased']), author)
  assert.equal((await get(iid)).sha, await shop.tip('rebased'))

  const clash = await shop.open('clash')
  await shop.commit('clash', { README: 'theirs again\n' })
  await shop.commit('main', { README: 'ours again\n' })
  const head = await shop.tip('clash')
  assert.equal((await shop.ask('PUT', `/${clash}/rebase`)).status, 202)
  assert.equal(await shop.tip('clash'), head)
  const { merge_error } = (await shop.ask('GET', `/${clash}`)).body as { merge_error: string }
  assert.equal(merge_error, 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.')
})

test('git finds nothing amiss behind all these merges', () => {
  gitText(shop.directory, ['fsck', '--strict', '--no-dangling'])
})

test('nothing is rebased where a branch is gone, and no conflict is told of', async () => {
  const [iid, astray] = [await shop.open('vanished'), await shop.open('astray')]
  await shop.commit('elsewhere', { 'elsewhere.txt': 'x' })
  await shop.ask('PUT', `/${astray}`, { body: { target_branch: 'elsewhere' } })
  for (const [number, branch, which] of [
    [iid, 'vanished', 'Source'],
    [astray, 'elsewhere', 'Target'],
  ] as const) {
    await world().call('DELETE', `/projects/${shop.project.id}/repository/branches/${branch}`, {
      as: shop.owner,
    })
    const answer = await shop.ask('PUT', `/${number}/rebase`)
    assert.deepEqual(
      [answer.status, answer.body],
      [403, { message: `403 Forbidden - ${which} branch does not exist` }],
    )
    assert.equal((await get(number)).merge_error, null)
  }
})
