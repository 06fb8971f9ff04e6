// The view of one operation.

import {
  areaTitle,
  codeBox,
  facts,
  fold,
  h,
  hrefOf,
  page,
  paintedJson,
  pathParts,
  rich,
  spaced,
  titleOf,
} from './parts.js'
import { deref, tree, typeName, typeView } from './schema.js'
import { bodyOf, tryView } from './try.js'

function operationHead(operation) {
  const { 'x-permission': permission, 'x-tier': tier, 'x-provenance': provenance } = operation
  return h(
    'header',
    h('p.crumb', areaTitle(operation.area)),
    h('h1', { tabindex: -1 }, titleOf(operation)),
    h('p.path', h(`span.method.${operation.method}`, operation.method), h('code', pathParts(operation.path))),
    operation.deprecated && h('p.note', 'Deprecated'),
    facts(
      ['Who may call', permission && [permission].flat().join(' and ')],
      ['Tier', tier && h(`span.tier.${tier}`, tier)],
      ['Provenance', provenance],
      ['Operation', h('code', operation.id)],
    ),
    (operation.description ?? '').split(/\n{2,}/).map(paragraphView),
  )
}

/** The gates come as one sentence, "Passes: a; b; c."; a list is easier to follow. */
function paragraphView(text) {
  const gates = /^Passes: (.+?)\.?$/s.exec(text)?.[1].split('; ')
  if (!gates) return text && h('p', rich(text))
  const items = gates.map((gate) => h('li', rich(gate)))
  return [h('h2', 'Gates'), h('ol.gates', items)]
}

function parameterTable(parameters) {
  // The roles keep the table a table for screen readers where narrow screens stack its cells.
  const row = (tag, role, texts) => {
    const cells = texts.map((text) => h(tag, { role }, text))
    return h('tr', { role: 'row' }, cells)
  }
  const rows = parameters.map(({ name, in: where, schema, required, description }) => {
    const need = required ? h('span.required', 'required') : h('span.quiet', 'optional')
    return row('td', 'cell', [h('code.name', name), where, typeView(schema), need, rich(description)])
  })
  const titles = row('th', 'columnheader', ['Name', 'Where', 'Type', 'Required', 'Description'])
  const group = { role: 'rowgroup' }
  const table = h('table', { role: 'table' }, h('thead', group, titles), h('tbody', group, rows))
  return rows.length > 0 && [h('h2', 'Parameters'), table]
}

function bodyView(body) {
  const kinds = h('p.quiet', body.required ? 'Required, as ' : 'As ', body.types.join(', '))
  const shape = body.fields ? tree(body.schema, true) : h('p', typeView(body.schema))
  return [h('h2', 'Request body'), kinds, shape]
}

/** Many descriptions only spell the examples out; then the examples' own words are shorter. */
function responseHint(description, samples) {
  const spelled = samples.map((sample) => JSON.stringify(sample)).join(' or ')
  if (!samples.length || spelled !== description) return rich(description)
  const words = samples.map((sample) => sample.message ?? sample.error ?? sample)
  return words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' · ')
}

function mediaView([type, { schema }]) {
  return [h('p.quiet', type, ' · ', h('span.type', typeName(schema))), tree(schema)]
}

function responseView([status, response]) {
  const { description, headers = {}, content = {} } = deref(response)
  const given = Object.values(content).flatMap(({ example, examples = {} }) => {
    return [{ value: example }, ...Object.values(examples)]
  })
  const samples = given.map((each) => deref(each).value).filter((value) => value !== undefined)
  const head = [h(`span.status.s${status[0]}`, status), h('span.hint', responseHint(description, samples))]
  const names = Object.keys(headers)
  const build = () => [
    names.length > 0 && h('p.quiet', 'Headers ', spaced(names)),
    samples.map((sample) => codeBox(`Example of ${status}`, paintedJson(JSON.stringify(sample, null, 2)))),
    Object.entries(content).map(mediaView),
  ]
  if (![...names, ...Object.keys(content)].length) return h('div.response', head)
  return fold('details.response', head, build, status[0] === '2')
}

function pager(operation) {
  const at = page.operations.indexOf(operation)
  const link = (other, words) =>
    other ? h('a', { href: hrefOf(other) }, h('small', words), titleOf(other)) : h('span')
  const links = [link(page.operations[at - 1], 'Previous'), link(page.operations[at + 1], 'Next')]
  return h('nav.pager', { 'aria-label': 'Neighbours' }, links)
}

/** The recorded example of a success, shown once the examples are read. */
async function showExample(place, operation) {
  const example = (await page.examples)[operation.id]
  if (!example) return
  const title = `Example of ${example.status}`
  place.append(h('h2', title), codeBox(title, paintedJson(JSON.stringify(example.body, null, 2))))
}

export function operationView(operation) {
  const body = bodyOf(operation)
  const example = h('div')
  void showExample(example, operation)
  const responses = Object.entries(operation.responses ?? {}).map(responseView)
  return h(
    'article.operation',
    h('section', operationHead(operation), parameterTable(operation.parameters), body && bodyView(body)),
    h('section.rail', { 'aria-label': 'Try it' }, tryView(operation, body)),
    h('section', example, h('h2', 'Responses'), responses, pager(operation)),
  )
}
