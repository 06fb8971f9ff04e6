/* Merge requests wait for pipelines of a runner, and are merged once, also where the server dies between both. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { killServer, until } from '../support/program.ts'
import { openYard, type Yard } from '../support/pipelines_by_runner.ts'

const REQUESTS = 5
const CONFIG = 'check: { script: [test -f README.md] }\n'

suite('merge requests that wait for pipelines', () => {
  let yard: Yard
  before(async () => {
    yard = await openYard()
    await yard.push({ '.gitlab-ci.yml': CONFIG, 'README.md': 'Ship\n' }, 'main')
  })
  after(() => yard.clear())

  const call = async (method: string, path: string, body: object): Promise<unknown> => {
    const answer = await fetch(`${yard.server.api}${path}`, {
      method,
      headers: { 'private-token': yard.token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  /** A merge request of a branch with one new file, told to merge when its pipeline succeeds. */
  async function open(branch: string): Promise<number> {
    const { api, project } = yard
    await api.Branches.create(project, branch, 'main')
    await api.RepositoryFiles.create(project, branch, branch, branch, `Add ${branch}`)
    const { iid } = await api.MergeRequests.create(project, branch, 'main', branch)
    await until('the merge request has a pipeline', async () => {
      const [head] = await api.MergeRequests.allPipelines(project, iid)
      return head !== undefined
    })
    const shown = await api.MergeRequests.merge(project, iid, { autoMerge: true })
    assert.deepEqual([shown.state, shown.merge_when_pipeline_succeeds], ['opened', true])
    return iid
  }
  const state = async (iid: number): Promise<string> =>
    (await yard.api.MergeRequests.show(yard.project, iid)).state

  /** Each merge stands once: in the branch, in the merge request and in what is said below it. */
  async function assertMerged(branches: ReadonlyMap<string, number>): Promise<void> {
    const { api, project } = yard
    const commits = (await api.Commits.all(project, { refName: 'main', perPage: 100 })) as readonly {
      readonly title: string
      readonly parent_ids: readonly string[]
    }[]
    const tree = await api.Repositories.allRepositoryTrees(project, { ref: 'main', perPage: 100 })
    for (const [branch, iid] of branches) {
      assert.ok(tree.some(({ name }) => name === branch))
      const merges = commits.filter(
        ({ title, parent_ids }) => title.includes(`'${branch}'`) && parent_ids.length === 2,
      )
      assert.equal(merges.length, 1, branch)
      const notes = await api.MergeRequestNotes.all(project, iid)
      const said = notes.filter(({ system, body }) => system && /^merged$|automatic merge/.test(body))
      assert.deepEqual(
        said.map(({ body }) => body.replace(/[0-9a-f]{40}/, 'SHA')).toSorted(),
        ['enabled an automatic merge when the pipeline for SHA succeeds', 'merged'],
        branch,
      )
    }
  }

  test('a merge request waits until the runner has ended its pipeline', async () => {
    const iid = await open('waits')
    assert.equal(await state(iid), 'opened')
    const runner = yard.startRunner()
    await until('the merge request is merged', async () => (await state(iid)) === 'merged')
    await assertMerged(new Map([['waits', iid]]))
    runner.child.kill('SIGTERM')
    assert.equal((await runner.ended).code, 0)
  })

  test('a server that dies after the pipelines succeed merges each request once when it is back', async (t) => {
    const requests = new Map<string, number>()
    for (let at = 0; at < REQUESTS; at += 1) requests.set(`topic-${at}`, await open(`topic-${at}`))
    const branches = new Set(requests.keys())
    const taken: { id: number; token: string }[] = []
    while (taken.length < branches.size) {
      const job = (await call('POST', '/jobs/request', { token: yard.runnerToken })) as
        { id: number; token: string; git_info: { ref: string } } | undefined
      if (job === undefined) continue
      if (branches.has(job.git_info.ref)) taken.push(job)
      else await call('PUT', `/jobs/${job.id}`, { token: job.token, state: 'success' })
    }
    await Promise.all(taken.map(({ id, token }) => call('PUT', `/jobs/${id}`, { token, state: 'success' })))
    await killServer(yard.place, yard.server, { withDatabase: true })
    await yard.place.serve()
    const left = await Promise.all([...requests.values()].map(state))
    t.diagnostic(
      `${left.filter((one) => one === 'opened').length} of ${REQUESTS} were left to the next server`,
    )
    for (const iid of requests.values())
      await until(`!${iid} is merged`, async () => (await state(iid)) === 'merged')
    await assertMerged(requests)
    assert.deepEqual((await yard.place.run(['ci', 'check'])).code, 0)
  })
})
