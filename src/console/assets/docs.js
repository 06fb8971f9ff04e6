// One document is read, and the view of an operation is built only when it is opened: building some hundred
// of them up front would keep the browser busy for nobody.

import { applyFilter, buildSide, showCurrent } from './filter.js'
import { guide } from './guide.js'
import { operationView } from './operation.js'
import {
  API_ROOT,
  areaTitle,
  facts,
  h,
  hrefOf,
  operationLink,
  page,
  pathParts,
  rich,
  titleOf,
} from './parts.js'
import { deref } from './schema.js'

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options']
const NARROW = matchMedia('(width < 56rem)')
const filter = document.querySelector('#filter')
const view = document.querySelector('#view')
const side = document.querySelector('#side')

function operationsOf([path, item]) {
  const shared = (item.parameters ?? []).map(deref)
  return METHODS.filter((method) => item[method]).map((method) => {
    const { parameters = [], operationId, tags, ...rest } = item[method]
    const own = parameters.map(deref)
    const added = shared.filter((s) => !own.some((o) => o.name === s.name && o.in === s.in))
    const named = { id: operationId ?? `${method}${path}`, area: tags?.[0] ?? 'other', method, path }
    return { ...rest, ...named, parameters: [...added, ...own] }
  })
}

function readOperations() {
  const paths = Object.entries(page.spec.paths ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const list = paths.flatMap(operationsOf)
  const tags = page.spec.tags ?? []
  const names = new Set([...tags.map((tag) => tag.name), ...list.map((operation) => operation.area)])
  const all = [...names].map((name) => {
    const about = tags.find((tag) => tag.name === name)?.description
    return { name, about, operations: list.filter((operation) => operation.area === name) }
  })
  page.areas = all.filter((area) => area.operations.length)
  page.operations = page.areas.flatMap((area) => area.operations)
}

function overview(unknown) {
  const { title = 'API', version, description } = page.spec.info ?? {}
  const ways = Object.values(page.spec.components?.securitySchemes ?? {}).map(({ type, scheme, name }) =>
    type === 'http' ? `Authorization: ${areaTitle(scheme)} <token>` : `${name}: <token>`,
  )
  return h(
    'article.overview',
    unknown && h('p.note', { role: 'alert' }, 'No operation is called ', h('code', unknown), '.'),
    h('h1', { tabindex: -1 }, `${title} API `, h('small', version)),
    h('p.lead', rich(description)),
    facts(
      ['Base URL', h('code', page.spec.servers?.[0]?.url ?? API_ROOT)],
      ['Authentication', ways.map((way, i) => [i > 0 && ' or ', h('code', way)])],
      ['Document', h('a', { href: '/-/openapi.json' }, 'openapi.json')],
    ),
    guide(),
    page.areas.map(areaView),
  )
}

function areaView({ name, about, operations: listed }) {
  const link = (each) => operationLink(each, h('code', pathParts(each.path)), h('span', each.summary))
  const items = listed.map((each) => h('li', link(each)))
  return [h('h2', areaTitle(name)), about && h('p', rich(about)), h('ul.list', items)]
}

function openView() {
  const operation = page.operations.find((each) => [hrefOf(each), `#${each.id}`].includes(location.hash))
  view.replaceChildren(operation ? operationView(operation) : overview(location.hash.slice(1)))
  document.title = `${operation ? titleOf(operation) : 'API reference'} · ${page.spec.info?.title ?? 'API'}`
  showCurrent(operation)
  side.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
}

function moveTo() {
  side.hidePopover()
  openView()
  scrollTo(0, 0)
  view.querySelector('h1').focus({ preventScroll: true })
}

function onKey(event) {
  const typing = event.target.closest('input, textarea, select')
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  if (NARROW.matches) side.showPopover()
  filter.select()
}

function listen() {
  addEventListener('hashchange', moveTo)
  addEventListener('keydown', onKey)
  filter.addEventListener('input', () => applyFilter(filter.value))
  filter.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') side.querySelector('#areas a')?.click()
  })
  // Following the link of the shown operation changes no hash, and the side list should close all the same.
  side.addEventListener('click', (event) => event.target.closest('a') && side.hidePopover())
  NARROW.addEventListener('change', () => side.hidePopover())
  document.querySelector('#skip').addEventListener('click', (event) => {
    event.preventDefault()
    view.focus()
  })
}

/** Answers recorded by the tests, by operation; the page does without them where they cannot be read. */
const readExamples = () =>
  fetch('/-/docs/examples.json')
    .then((response) => (response.ok ? response.json() : {}))
    .catch(() => ({}))

async function start() {
  page.examples = readExamples()
  try {
    const response = await fetch('/-/openapi.json')
    if (!response.ok) throw new Error(`the server answered ${response.status}`)
    page.spec = await response.json()
  } catch (error) {
    const words = `The API document could not be read: ${error.message}.`
    view.replaceChildren(h('p.note', { role: 'alert' }, words))
    return
  }
  readOperations()
  buildSide()
  listen()
  openView()
  applyFilter(filter.value)
}

void start()
