import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gitText } from '../../../test/support/git_fixtures.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { repositoryPath } from '../../core/places/projects.ts'

const MB = 1024 * 1024
const COMMITS = 100
const world = sharedWorld()

test('one answer holds 4 MiB of long messages whole and the titles of all others', async () => {
  const { make, opened } = world()
  const project = await make.project({ visibility: 'public', repository: 'empty' })
  const directory = opened.instance.git.directory(repositoryPath(project.id))
  const body = 'm'.repeat(MB - 20)
  const commits = Array.from({ length: COMMITS }, (_, at) => {
    const message = `Title ${at}\n\n${body}`
    return `commit refs/heads/main\ncommitter A <a@x> ${1_700_000_000 + at} +0000\ndata ${message.length}\n${message}\n`
  })
  // Git itself knows no limit, and neither did this server once.
  gitText(directory, ['fast-import', '--quiet'], commits.join(''))
  gitText(directory, ['tag', 'root', `main~${COMMITS - 1}`])
  const titles = Array.from({ length: COMMITS }, (_, at) => `Title ${COMMITS - 1 - at}`)
  for (const [query, expected] of [
    ['commits?per_page=100', titles],
    ['commits?per_page=100&with_stats=true', titles],
    ['commits?per_page=100&trailers=true', titles],
    ['compare?from=root&to=main', titles.slice(0, -1).toReversed()],
  ] as const) {
    const answer = await world().get(`/projects/${project.id}/repository/${query}`)
    const found = answer.body as
      { title: string; message: string }[] | { commits: { title: string; message: string }[] }
    const listed = 'commits' in found ? found.commits : found
    assert.deepEqual(
      listed.map(({ title }) => title),
      expected,
    )
    assert.equal(listed.filter(({ message }) => message.length > 1_000).length, 4, query)
    assert.deepEqual(new Set(listed.slice(4).map(({ title, message }) => message === title)), new Set([true]))
    assert.ok(answer.text.length < 5 * MB, `${query}: ${answer.text.length} bytes`)
  }
})

test('lists of branches and tags hold no more of long messages than lists of commits', async () => {
  const { make, opened } = world()
  const project = await make.project({ visibility: 'public', repository: 'empty' })
  const directory = opened.instance.git.directory(repositoryPath(project.id))
  const long = (title: string): string => `${title}\n\n${'m'.repeat(MB - 20)}`
  const refs = Array.from({ length: 12 }, (_, at) => {
    const [message, told] = [long(`Title ${at}`), long(`Tag ${at}`)]
    const by = `A <a@x> ${1_700_000_000 + at} +0000`
    return `commit refs/heads/b${at}\ncommitter ${by}\ndata ${message.length}\n${message}\ntag t${at}\nfrom refs/heads/b${at}\ntagger ${by}\ndata ${told.length}\n${told}\n`
  })
  gitText(directory, ['fast-import', '--quiet'], refs.join(''))
  for (const [query, count] of [
    ['branches', 12],
    ['tags', 12],
  ] as const) {
    const answer = await world().get(`/projects/${project.id}/repository/${query}?per_page=100`)
    assert.equal((answer.body as unknown[]).length, count)
    assert.ok(answer.text.length < 5 * MB, `${query}: ${answer.text.length} bytes`)
    assert.ok(answer.text.includes('Title 11') && answer.text.includes('Title 0'))
  }
})
