// What every view is built of. Whatever the document or an answer says becomes a text node, never markup.

export const API_ROOT = '/api/v4'
const PAINTED_CHARACTERS = 60_000

/** The document, and its operations in the order of the page. */
export const page = { spec: {}, areas: [], operations: [], examples: Promise.resolve({}) }

export const present = (parts) => parts.flat(Infinity).filter((part) => part || part === 0)

/** h('tag.class', attributes and listeners if any, children): a function listens to the event of its name. */
export function h(kind, ...rest) {
  const [tag, ...classes] = kind.split('.')
  const node = document.createElement(tag)
  const props = rest[0]?.constructor === Object ? rest.shift() : {}
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === 'function') node.addEventListener(key, value)
    else if (value !== false && value !== undefined) node.setAttribute(key, value === true ? '' : value)
  }
  node.classList.add(...classes)
  node.append(...present(rest))
  return node
}

/** Descriptions use backticks and nothing else of Markdown; a lone backtick is only a character. */
export function rich(text = '') {
  const parts = text.split('`')
  return parts.length % 2 ? parts.map((part, i) => (i % 2 ? h('code', part) : part)) : text
}

/** A folded part is built at the click, before it opens, so that nothing jumps afterwards. */
export function fold(kind, head, build, open = false) {
  const summary = h('summary', head)
  const node = h(kind, { open }, summary, open && build())
  if (!open) summary.addEventListener('click', () => node.append(...present([build()])), { once: true })
  return node
}

export const facts = (...pairs) =>
  h('dl.facts', present(pairs.map(([term, value]) => value && [h('dt', term), h('dd', value)])))
export const spaced = (names) => names.map((name, i) => [i > 0 && ' ', h('code', String(name))])
export const areaTitle = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')
export const hrefOf = (operation) => `#${encodeURIComponent(operation.id)}`
export const titleOf = (operation) => operation.summary ?? operation.id

export const operationLink = (operation, ...content) =>
  h('a', { href: hrefOf(operation) }, h(`span.method.${operation.method}`, operation.method), content)

/** Long paths break after a slash, and their variable parts stand out. */
export const pathParts = (path) =>
  path
    .split(/(\{[^}]+\}|\/)/)
    .map((part) => (part === '/' ? ['/', h('wbr')] : part[0] === '{' ? h('var', part) : part))

export function paintedJson(text) {
  if (text.length > PAINTED_CHARACTERS) return text
  const word = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
  const parts = []
  let end = 0
  for (const match of text.matchAll(word)) {
    const kind = match[2] ? 'key' : match[1] ? 'string' : 'literal'
    parts.push(text.slice(end, match.index), h(`span.${kind}`, match[1] ?? match[0]), match[2])
    end = match.index + match[0].length
  }
  return [parts, text.slice(end)]
}

// A box that scrolls must be reachable by keyboard.
export const codeBox = (label, content) =>
  h('pre', { tabindex: 0, role: 'group', 'aria-label': label }, content)

export function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
