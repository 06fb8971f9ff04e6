import { addressOf } from './addresses.ts'

/** Tells which methods an address has, in the form of `Allow`; undefined for an address that is none. */
export type Allowed = (path: string) => string | undefined

interface Shape {
  readonly pattern: RegExp
  /** How many parts are words: where two shapes fit, the one with more words is meant. */
  readonly words: number
  readonly methods: Set<string>
}

/** Looks addresses up when nothing served them, so that no route is kept for what a path does not have. */
export function allowedAt(
  prefix: string,
  operations: readonly { readonly method: string; readonly path: string }[],
): Allowed {
  const shapes = new Map<string, Shape>()
  for (const { path, method } of operations) {
    const parts = addressOf(prefix, path).split('/')
    const text = parts.map((part) => part.replace(/^:\w+/, '[^/]+').replace('.', '\\.')).join('/')
    const words = parts.filter((part) => !part.startsWith(':')).length
    const shape = shapes.get(text) ?? {
      pattern: new RegExp(`^${text}/?$`),
      words,
      methods: new Set(),
    }
    shapes.set(text, shape)
    shape.methods.add(method)
    if (method === 'GET') shape.methods.add('HEAD')
  }
  const inOrder = [...shapes.values()].sort((a, b) => b.words - a.words)
  return (path) => {
    const found = inOrder.find(({ pattern }) => pattern.test(path))
    return found && [...found.methods].sort().join(', ')
  }
}
