// The beginning of the reference: a token, five first calls, and the rules that all operations share.

import { API_ROOT, codeBox, h, hrefOf, page, rich } from './parts.js'

const base = () => new URL(page.spec.servers?.[0]?.url ?? API_ROOT, location.origin).href.replace(/\/$/, '')
const call = (rest) => `curl --header "PRIVATE-TOKEN: $TOKEN" \\\n  ${rest.replaceAll('BASE', base())}`

const FIRST_CALLS = [
  ['getCurrentUser', 'Who the token belongs to', () => call(`'BASE/user'`)],
  [
    'createProject',
    'A project',
    () => call(`--data 'name=first' --data 'initialize_with_readme=true' 'BASE/projects'`),
  ],
  ['createIssue', 'An issue in it', () => call(`--data 'title=Begin' 'BASE/projects/USER%2Ffirst/issues'`)],
  [
    'listProjectIssues',
    'Its open issues',
    () => call(`'BASE/projects/USER%2Ffirst/issues?state=opened&per_page=20'`),
  ],
  [
    'getFile',
    'A file of its repository',
    () => call(`'BASE/projects/USER%2Ffirst/repository/files/README.md?ref=main'`),
  ],
]

const RULES = [
  [
    'Ids and paths',
    'Where an address has `:id` of a project or group, its full path does too, with every slash written as `%2F`: `/projects/harbour%2Fapp`. The same holds for branches, files and tags in addresses.',
  ],
  [
    'Parameters',
    'In the query, as a form, or as JSON with `Content-Type: application/json`. A list is `name[]=a&name[]=b`, or a list in JSON.',
  ],
  [
    'Pages',
    '`page` and `per_page` (20, at most 100). The headers `Link`, `X-Next-Page` and, up to 10,000 records, `X-Total` tell of the rest. Lists that offer `pagination=keyset` stay fast at any depth: follow `Link`.',
  ],
  [
    'Errors',
    '400 for parameters, 401 without a valid token, 403 without the right, 404 for records that are absent or hidden, 409 for conflicts, 422 for changes that cannot be made, 429 with `Retry-After`. The body is `{"message": …}` or `{"error": …}`.',
  ],
  [
    'Conditions',
    'A GET has an `ETag`. A write with `If-Match` is refused with 412 where the record changed since.',
  ],
  [
    'Retries',
    'A write with an `Idempotency-Key` can be repeated for 24 hours: it takes effect once, and each repetition gets the first answer.',
  ],
]

function firstCall([id, words, line]) {
  const operation = page.operations.find((each) => each.id === id)
  const title = operation ? h('a', { href: hrefOf(operation) }, words) : words
  return h('li', title, codeBox(words, h('code', line())))
}

export const guide = () =>
  h(
    'section.guide',
    h('h2', 'Begin'),
    h(
      'p',
      rich(
        'Every call but those of public records carries a token: `PRIVATE-TOKEN: <token>` or `Authorization: Bearer <token>`. The first start of the server prints one; later ones are made in the profile, or by `bin/guildhall token create --user NAME`.',
      ),
    ),
    codeBox('Token', h('code', 'TOKEN=glpat-…')),
    h('ol', FIRST_CALLS.map(firstCall)),
    h('h2', 'Rules that all operations share'),
    h(
      'dl.rules',
      RULES.map(([term, text]) => [h('dt', term), h('dd', rich(text))]),
    ),
  )
