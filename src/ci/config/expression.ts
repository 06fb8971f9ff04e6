import { LRUCache } from 'lru-cache'
import { readPattern, type Pattern } from './patterns.ts'

// Expressions of `rules:if` and `only:variables`. Values are texts, null, or the outcome of a comparison.

type Value = string | null | boolean
/** The value of a variable; undefined where there is none. */
export type Lookup = (name: string) => string | undefined

/** A parsed expression. */
export interface Expression {
  readonly holds: (lookup: Lookup) => boolean
}

type Node = (lookup: Lookup) => Value | Pattern
interface Token {
  readonly kind: '(' | ')' | '!' | 'operator' | 'operand'
  readonly operator: string
  readonly node: Node
}

const MAX_TOKENS = 100
/** In the order they are tried: the groups are a variable, two kinds of strings, a pattern, a word, an operator. */
const TOKEN =
  /\s*(?:\$(\w+)|"([^"]*)"|'([^']*)'|(\/(?:\\.|[^\\/])+\/[ismU]*)|(null|true|false)\b|(==|=~|!=|!~|&&|\|\||[()!]))/y

const LEVELS: Readonly<Record<string, number>> = { '||': 1, '&&': 2, '==': 3, '!=': 3, '=~': 3, '!~': 3 }

const parsed = new LRUCache<string, { readonly expression: Expression | null }>({ max: 2_000 })

/** Reads an expression of at most 100 tokens; null for a syntax fault. */
export function readExpression(text: string): Expression | null {
  const known = parsed.get(text)
  if (known !== undefined) return known.expression
  const tokens = tokenize(text)
  const node = tokens && parse(tokens)
  const expression = node ? { holds: (lookup: Lookup) => isPresent(node(lookup)) } : null
  parsed.set(text, { expression })
  return expression
}

const isPresent = (value: Value | Pattern): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value === true || isPattern(value)

function tokenize(text: string): Token[] | null {
  const tokens: Token[] = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text)
    const token = match && readToken(match)
    if (!token || tokens.length === MAX_TOKENS) return null
    tokens.push(token)
  }
  return tokens
}

const WORDS: Readonly<Record<string, Value>> = { null: null, true: true, false: false }

function readToken([, variable, double, single, regex, word, operator = '']: RegExpExecArray): Token | null {
  const operand = (node: Node): Token => ({ kind: 'operand', operator: '', node })
  if (variable !== undefined) return operand((lookup) => lookup(variable) ?? null)
  const string = double ?? single
  if (string !== undefined) return operand(() => string)
  if (word !== undefined) return operand(() => WORDS[word] ?? null)
  if (regex !== undefined) {
    const pattern = readPattern(regex)
    return pattern && operand(() => pattern)
  }
  const kind = operator === '(' || operator === ')' || operator === '!' ? operator : 'operator'
  return { kind, operator, node: () => null }
}

/** Precedence climbing; the number of tokens bounds its depth. Null for a syntax fault. */
function parse(tokens: readonly Token[]): Node | null {
  let at = 0
  const operand = (): Node | null => {
    const token = tokens[at++]
    if (token?.kind === '!') {
      const inner = operand()
      return inner && ((lookup) => !isPresent(inner(lookup)))
    }
    if (token?.kind === 'operand') return token.node
    if (token?.kind !== '(') return null
    const inner = chain(1)
    return inner && tokens[at++]?.kind === ')' ? inner : null
  }
  const chain = (level: number): Node | null => {
    let left = operand()
    while (left !== null) {
      const { kind, operator = '' } = tokens[at] ?? {}
      const found = kind === 'operator' ? (LEVELS[operator] ?? 0) : 0
      if (found < level) return left
      at += 1
      const right = chain(found + 1)
      left = right && combine(operator, left, right)
    }
    return null
  }
  const node = chain(1)
  return at === tokens.length ? node : null
}

function combine(operator: string, left: Node, right: Node): Node {
  switch (operator) {
    case '&&':
      return (lookup) => {
        const value = left(lookup)
        return value === null || value === false ? value : right(lookup)
      }
    case '||':
      return (lookup) => {
        const value = left(lookup)
        return value === null || value === false ? right(lookup) : value
      }
    case '==':
      return (lookup) => left(lookup) === right(lookup)
    case '!=':
      return (lookup) => left(lookup) !== right(lookup)
    case '=~':
      return (lookup) => matches(left(lookup), right(lookup)) ?? false
    default:
      return (lookup) => !(matches(left(lookup), right(lookup)) ?? false)
  }
}

const isPattern = (value: Value | Pattern): value is Pattern => typeof value === 'object' && value !== null

/** A text on the right that looks like a pattern is one; any other is searched as it stands. */
function matches(left: Value | Pattern, right: Value | Pattern): boolean | null {
  if (right === null || isPattern(left)) return null
  const text = left === null ? '' : String(left)
  if (isPattern(right)) return right.found(text)
  const pattern = typeof right === 'string' && right.startsWith('/') ? readPattern(right) : null
  return pattern ? pattern.found(text) : text.includes(String(right))
}
