// The list of operations at the side: by area, or ranked by the words of the filter.

import { areaTitle, h, operationLink, page, titleOf } from './parts.js'

const MANY_OPERATIONS = 60
const MAX_RANKED = 60
const list = document.querySelector('#areas')
const count = document.querySelector('#count')
let rows = []

const linkTo = (operation, ...more) => operationLink(operation, h('span', titleOf(operation), more))

export function buildSide() {
  rows = page.operations.map((operation) => {
    const { method, path, summary, id, area } = operation
    const title = titleOf(operation).toLowerCase()
    const names = [method, id, area, areaTitle(area)].join(' ').toLowerCase()
    return { operation, title, path: path.toLowerCase(), text: `${names} ${(summary ?? '').toLowerCase()}` }
  })
  for (const area of page.areas) {
    area.links = area.operations.map((operation) => ({ operation, link: linkTo(operation) }))
    const items = area.links.map(({ link }) => h('li', link))
    const head = h('summary', areaTitle(area.name), h('small', items.length))
    area.node = h('details', head, h('ul', items))
  }
}

export function showCurrent(operation) {
  for (const area of page.areas) {
    for (const row of area.links) row.link.ariaCurrent = row.operation === operation ? 'page' : null
    area.node.open = area.name === operation?.area || page.operations.length < MANY_OPERATIONS
  }
}

/** Points of one word: the start of the title before its other words, then the path, then all else; 0 is no match. */
function pointsOf({ title, path, text }, word) {
  const at = ` ${title}`.indexOf(` ${word}`)
  if (at === 0) return 12
  if (at > 0) return 8
  const segments = path.split('/')
  if (segments.at(-1) === word) return 7
  if (segments.includes(word)) return 5
  if (title.includes(word)) return 4
  return path.includes(word) ? 3 : text.includes(word) ? 1 : 0
}

/** Rows that match every word, the best first; of equal ones short titles first. */
function ranked(words) {
  return rows
    .map((row) => ({ row, points: words.map((word) => pointsOf(row, word)) }))
    .filter(({ points }) => points.every((each) => each > 0))
    .map(({ row, points }) => ({ row, points: points.reduce((sum, each) => sum + each) }))
    .sort((a, b) => b.points - a.points || a.row.title.length - b.row.title.length)
    .map(({ row }) => row.operation)
}

export function applyFilter(value) {
  const words = value.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) {
    list.replaceChildren(...page.areas.map((area) => area.node))
    count.textContent = `${rows.length} operations`
    return
  }
  const found = ranked(words)
  const items = found
    .slice(0, MAX_RANKED)
    .map((operation) => h('li', linkTo(operation, h('small', areaTitle(operation.area)))))
  list.replaceChildren(h('ul.ranked', items))
  count.textContent = `${found.length} of ${rows.length} operations`
}
