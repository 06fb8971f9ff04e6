import type { Page, Route } from './page.ts'

interface Found {
  readonly page: Page
  readonly at: Record<string, string>
}

/** `:name` is one segment, `*name` one or more, `**name` any number. Literal segments win, in the order of the table. */
function compile(path: string): { matches: RegExp; names: string[] } {
  const names: string[] = []
  const text = path
    .split('/')
    .filter((part) => part !== '')
    .map((part) => {
      const [, kind, name = ''] = /^(\*\*|\*|:)(\w+)$/.exec(part) ?? []
      if (kind === undefined) return `/${part.replaceAll('.', '\\.')}`
      names.push(name)
      return kind === ':' ? '/([^/]+)' : kind === '*' ? '/(.+?)' : '((?:/.*)?)'
    })
    .join('')
  return { matches: new RegExp(`^${text}/?$`), names }
}

/** Makes the function that finds the page of an address. It gives undefined for an address of no page, or of no text. */
export function createRouter(
  routes: readonly Route[],
): (method: string, pathname: string) => Found | undefined {
  const table = routes.map((route) => ({ ...route, ...compile(route.path) }))
  return (method, pathname) => {
    for (const { matches, names, page, method: its } of table) {
      const found = its === method ? matches.exec(pathname) : null
      if (found === null) continue
      try {
        const at = names.map((name, i) => [name, decoded(found[i + 1] ?? '')] as const)
        return { page, at: Object.fromEntries(at) }
      } catch {
        return undefined
      }
    }
    return undefined
  }
}

function decoded(text: string): string {
  const plain = decodeURIComponent(text).replace(/^\//, '')
  if (plain.includes('\0')) throw new Error('an address holds no NUL')
  return plain
}
