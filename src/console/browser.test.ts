import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { openBrowser, type Browser, type Tab } from '../../test/support/browser.js'
import { buildConsoleWorld, type ConsoleWorld } from '../../test/support/console_world.ts'
import { openWorld, type World } from '../../test/support/world.ts'

let world: World
let made: ConsoleWorld
let browser: Browser
let tab: Tab
let origin: string

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

before(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const opening = openBrowser()
  world = await openWorld({ env: { GUILDHALL_URL: origin } })
  made = await buildConsoleWorld(world)
  await world.app.listen({ port, host: '127.0.0.1' })
  browser = await opening
  tab = await browser.open(origin)
})
after(async () => {
  await browser.close()
  await world.close()
})

test('a person signs in, goes through a project, comments, merges and signs out', async () => {
  await tab.goto(`/harbour/gateway/-/issues/${made.issue}`)
  await tab.press('a.button[href^="/users/sign_in"]')
  await tab.fill('input[name=token]', made.mira.token)
  await tab.press('button.main')
  assert.equal(tab.path(), `/harbour/gateway/-/issues/${made.issue}`)
  await tab.fill('textarea[name=body]', 'Seen from a browser.\n\n/label ~feature')
  await tab.press('button[value=comment]')
  assert.match(await tab.text(), /Seen from a browser\./)
  await tab.press('.tabs a[href="/harbour/gateway"]')
  assert.match(await tab.text(), /The harbour's front door/)
  await tab.press('.files a[href$="/src"]')
  await tab.press('.files a[href$="server.ts"]')
  assert.match(String(await tab.evaluate('document.querySelector(".hljs-keyword").textContent')), /import/)
  await tab.goto(`/harbour/gateway/-/merge_requests/${made.mergeRequest}/diffs`)
  assert.match(await tab.text(), /Should this be a setting\?/)
  await tab.goto(`/harbour/gateway/-/merge_requests/${made.mergeRequest}`)
  await tab.press('form[action$="/merge"] button')
  assert.match(await tab.text(), /Merged by/)
  await tab.goto('/harbour/gateway/-/issues/new')
  await tab.fill('input[name=title]', 'Made in a browser')
  await tab.press('form[action$="/issues"] button.main')
  assert.match(await tab.text(), /Made in a browser #7/)
  await tab.goto('/dashboard')
  assert.match(await tab.text(), /My work/)
  assert.deepEqual(tab.complaints, [])
})

const pages = (): string[] => {
  const { issue, mergeRequest: merge, milestone, pipeline, jobs, snippet, sha } = made
  const project = [
    '',
    '/-/tree/main/src',
    '/-/blob/main/src/server.ts',
    '/-/commits/main',
    `/-/commit/${sha}`,
    '/-/branches',
    '/-/issues',
    '/-/issues/new',
    `/-/issues/${issue}`,
    '/-/merge_requests',
    `/-/merge_requests/${merge}`,
    `/-/merge_requests/${merge}/diffs`,
    '/-/milestones',
    `/-/milestones/${milestone}`,
    '/-/labels',
    '/-/pipelines',
    `/-/pipelines/${pipeline}`,
    `/-/jobs/${jobs[0]}`,
    '/-/snippets',
    `/-/snippets/${snippet}`,
    '/-/packages',
    '/-/project_members',
  ]
  return [
    '/dashboard',
    '/explore',
    '/-/profile',
    '/mira',
    '/groups/harbour',
    '/groups/harbour/-/issues',
    ...project.map((path) => `/harbour/gateway${path}`),
  ]
}

test('no page has a serious fault of access, light or dark', async () => {
  const faults: string[] = []
  const anonymous = await browser.open(origin, { width: 390, dark: true })
  for (const path of ['/users/sign_in', '/nowhere/at/all', '/harbour/gateway', '/explore']) {
    await anonymous.goto(path)
    for (const fault of await anonymous.faults()) faults.push(`dark ${path} ${fault}`)
  }
  for (const path of pages()) {
    assert.equal(await tab.goto(path), 200, path)
    for (const fault of await tab.faults()) faults.push(`${path} ${fault}`)
  }
  assert.deepEqual(faults, [])
  assert.deepEqual([...tab.complaints, ...anonymous.complaints], [])
})

const ATTACKS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "'-alert(1)-'",
  '</title><script>alert(1)</script>',
  '[x](javascript:alert(1))',
  '![x](https://evil.example/x.png)',
  '<iframe src="https://evil.example">',
  '[x](data:text/html,<script>alert(1)</script>)',
  '```"><img src=x onerror=alert(1)>\nx\n```',
  '<style>@import "https://evil.example"</style>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '@x"><img src=x onerror=alert(1)>',
  'https://evil.example/"onmouseover="alert(1)',
]

test('attack texts in every field that people write are shown as text', async () => {
  const { ask, project, group } = made
  const all = ATTACKS.join('\n\n')
  const short = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
  const at = `/projects/${project.id}`
  await ask('PUT', at, { description: all, name: 'Gateway' })
  await ask('PUT', `/groups/${group.id}`, { description: all })
  await ask('POST', `${at}/labels`, { name: short, color: '#aa0000', description: all.slice(0, 250) })
  const milestone = await ask('POST', `${at}/milestones`, { title: short, description: all })
  const issue = await ask('POST', `${at}/issues`, {
    title: short,
    description: all,
    labels: short,
    milestone_id: milestone.id,
    assignee_ids: [made.mira.id],
  })
  await ask('POST', `${at}/issues/${issue.iid}/notes`, { body: all })
  const snippet = await ask('POST', `${at}/snippets`, {
    title: short,
    description: all,
    visibility: 'public',
    files: [{ file_path: '<img src=x onerror=alert(1)>.md', content: all }],
  })
  const commit = await ask('POST', `${at}/repository/commits`, {
    branch: 'attack"><img-src=x',
    start_branch: 'main',
    commit_message: `${short}\n\n${all}`,
    author_name: short.slice(0, 60).replaceAll(/[<>]/g, ''),
    actions: [
      { action: 'create', file_path: 'a"><img src=x onerror=alert(1)>.md', content: all },
      { action: 'create', file_path: 'x"><b>/README.md', content: all },
    ],
  })
  const merge = await ask('POST', `${at}/merge_requests`, {
    source_branch: 'attack"><img-src=x',
    target_branch: 'main',
    title: short,
    description: all,
  })
  await ask('POST', `${at}/merge_requests/${merge.iid}/notes`, { body: all })
  const branch = encodeURIComponent('attack"><img-src=x')
  const paths = [
    '',
    '/-/issues',
    `/-/issues/${issue.iid}`,
    '/-/issues/new',
    `/-/issues?labels=${encodeURIComponent(short)}&search=${encodeURIComponent(short)}`,
    '/-/labels',
    '/-/milestones',
    `/-/milestones/${milestone.iid}`,
    '/-/snippets',
    `/-/snippets/${snippet.id}`,
    `/-/commit/${String(commit['id'])}`,
    '/-/branches',
    `/-/tree/${branch}`,
    `/-/blob/${branch}/${encodeURIComponent('a"><img src=x onerror=alert(1)>.md')}`,
    `/-/merge_requests/${merge.iid}`,
    `/-/merge_requests/${merge.iid}/diffs`,
    '/-/merge_requests',
    `/-/jobs/${made.jobs[0]}`,
    `/-/tree/main?${encodeURIComponent(short)}`,
  ]
  await tab.goto('/dashboard')
  tab.complaints.length = 0
  for (const path of [
    ...paths.map((each) => `/harbour/gateway${each}`),
    '/groups/harbour',
    '/dashboard',
    `/explore?search=${encodeURIComponent(short)}`,
    `/users/sign_in?return_to=${encodeURIComponent(`/${short}`)}`,
    `/${encodeURIComponent(short)}`,
  ]) {
    await tab.goto(path)
    const found = await tab.evaluate(
      `[...document.querySelectorAll('script, iframe, object, embed, style, img, [onerror], [onload], a[href^="javascript:" i], a[href^="data:" i]')].map((node) => node.outerHTML).filter((text) => !/\\/-\\/console\\//.test(text))`,
    )
    assert.deepEqual(found, [], path)
  }
  assert.deepEqual(tab.complaints, [])
})

test('pages fit a narrow screen, and scripts and styles stay small', async () => {
  const narrow = await browser.open(origin, { width: 360 })
  const wide: string[] = []
  for (const path of pages().filter(
    (each) => !/dashboard|profile|new|labels|milestones|members|jobs/.test(each),
  )) {
    await narrow.goto(path)
    const width = Number(await narrow.evaluate('document.documentElement.scrollWidth'))
    if (width > 360) wide.push(`${path} ${width}`)
  }
  assert.deepEqual(wide, [])
  const bytes = Number(
    await narrow.evaluate(
      `performance.getEntriesByType('resource').reduce((sum, each) => sum + each.decodedBodySize, 0)`,
    ),
  )
  assert.ok(bytes < 150_000, String(bytes))
})
