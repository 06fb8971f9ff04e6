import { mkdir } from 'node:fs/promises'
import { openBrowser } from '../test/support/browser.js'
import { buildConsoleWorld } from '../test/support/console_world.ts'
import { openWorld } from '../test/support/world.ts'

// Pictures of the console's pages, wide and narrow, light and dark, in the folder that is named, or in .cache/screenshots.

const folder = process.argv[2] ?? '.cache/screenshots'
const PORT = 8199
const origin = `http://127.0.0.1:${PORT}`
await mkdir(folder, { recursive: true })
const world = await openWorld({ env: { GUILDHALL_URL: origin } })
const { mira, issue, mergeRequest, milestone, pipeline, jobs, sha } = await buildConsoleWorld(world)
await world.app.listen({ port: PORT, host: '127.0.0.1' })
const project = '/harbour/gateway'
const PAGES: Readonly<Record<string, string>> = {
  work: '/dashboard',
  explore: '/explore',
  group: '/groups/harbour',
  project,
  blob: `${project}/-/blob/main/src/server.ts`,
  commits: `${project}/-/commits/main`,
  commit: `${project}/-/commit/${sha}`,
  branches: `${project}/-/branches`,
  issues: `${project}/-/issues`,
  issue: `${project}/-/issues/${issue}`,
  'new-issue': `${project}/-/issues/new`,
  'merge-request': `${project}/-/merge_requests/${mergeRequest}`,
  changes: `${project}/-/merge_requests/${mergeRequest}/diffs`,
  milestone: `${project}/-/milestones/${milestone}`,
  labels: `${project}/-/labels`,
  pipelines: `${project}/-/pipelines`,
  pipeline: `${project}/-/pipelines/${pipeline}`,
  job: `${project}/-/jobs/${jobs[0]}`,
  members: `${project}/-/project_members`,
  settings: '/-/profile',
  nowhere: '/harbour/nowhere',
}
const browser = await openBrowser()
for (const width of [1280, 390])
  for (const dark of [false, true]) {
    const tab = await browser.open(origin, { width, dark })
    const suffix = `${width}-${dark ? 'dark' : 'light'}`
    await tab.goto('/users/sign_in')
    await tab.screenshot(`${folder}/sign-in-${suffix}.png`)
    await tab.fill('input[name=token]', mira.token)
    await tab.press('button.main')
    for (const [name, path] of Object.entries(PAGES)) {
      await tab.goto(path)
      await tab.screenshot(`${folder}/${name}-${suffix}.png`)
    }
    await tab.close()
  }
await browser.close()
await world.close()
process.exit()
