import { ConfigFault } from '../yaml/config_fault.ts'
import { readPattern } from '../patterns.ts'
import { isHash, isList, newHash, show, type Hash, type Tree } from '../yaml/tree.ts'

// `spec:inputs` of a file's header, and `$[[ inputs.name | function ]]` in what follows it.

const MAX_OPTIONS = 50
const SPEC_KEYS = new Set(['default', 'description', 'options', 'regex', 'type'])
const TYPES = new Set(['string', 'number', 'boolean', 'array'])
/** Characters that inputs may add to a file. */
const MAX_ADDED_CHARACTERS = 1_048_576

/** The content of a file with its inputs filled in. Throws ConfigFault, the file's name before each text. */
export function fillInputs(
  { header, content }: { readonly header: Hash | undefined; readonly content: Hash },
  given: Hash,
  location: string,
): Hash {
  const say = (text: string): ConfigFault => new ConfigFault(`\`${location}\`: ${text}`)
  const specs = header === undefined ? newHash() : readSpecs(header, say)
  const unknown = Object.keys(given).filter((name) => !(name in specs))
  if (unknown.length > 0) throw say(`unknown input arguments: ${unknown.join(', ')}`)
  if (header === undefined) return content
  const values = newHash()
  for (const [name, spec] of Object.entries(specs)) values[name] = valueOf(name, spec, { given, say })
  const filler = new Filler(values, say)
  return filler.fill(content) as Hash
}

type Say = (text: string) => ConfigFault

function readSpecs(header: Hash, say: Say): Hash {
  const { spec } = header
  const unknown = Object.keys(header).filter((key) => key !== 'spec')
  if (unknown.length > 0) throw say(`header config contains unknown keys: ${unknown.join(', ')}`)
  if (spec === null || spec === undefined) return newHash()
  if (!isHash(spec)) throw say('header:spec config should be a hash')
  const bad = Object.keys(spec).filter((key) => key !== 'inputs')
  if (bad.length > 0) throw say(`header:spec config contains unknown keys: ${bad.join(', ')}`)
  const inputs = spec['inputs'] ?? newHash()
  if (!isHash(inputs)) throw say('header:spec:inputs config should be a hash')
  for (const [name, input] of Object.entries(inputs)) checkSpec(name, input, say)
  return inputs
}

function checkSpec(name: string, input: Tree, say: Say): void {
  const at = `header:spec:inputs:${name} config`
  if (input === null) return
  if (!isHash(input)) throw say(`${at} should be a hash`)
  const unknown = Object.keys(input).filter((key) => !SPEC_KEYS.has(key))
  if (unknown.length > 0) throw say(`${at} contains unknown keys: ${unknown.join(', ')}`)
  const { options, regex, type } = input
  if (type !== undefined && !TYPES.has(show(type)))
    throw say(`header:spec:inputs:${name} input type unknown value: ${show(type)}`)
  if (options !== undefined && (!isList(options) || options.length > MAX_OPTIONS))
    throw say(`${at} cannot define more than ${MAX_OPTIONS} options`)
  if (regex !== undefined && (typeof regex !== 'string' || readPattern(`/${regex}/`) === null))
    throw say(`${at} must be a regular expression with re2 syntax`)
}

function valueOf(
  name: string,
  spec: Tree,
  { given, say }: { readonly given: Hash; readonly say: Say },
): Tree {
  const rules = isHash(spec) ? spec : newHash()
  const value = name in given ? given[name] : rules['default']
  const fault = (text: string): ConfigFault => say(`\`${name}\` input: ${text}`)
  if (value === undefined) throw fault('required value has not been provided')
  const type = typeof rules['type'] === 'string' ? rules['type'] : 'string'
  const which = name in given ? 'provided' : 'default'
  if (type === 'array' ? !isList(value) : typeof value !== type)
    throw fault(`${which} value is not ${type === 'array' ? 'an' : 'a'} ${type}`)
  const { options, regex } = rules
  if (isList(options) && !options.includes(value))
    throw fault(`\`${show(value)}\` cannot be used because it is not in the list of allowed options`)
  if (typeof regex === 'string' && !readPattern(`/${regex}/`)?.found(show(value)))
    throw fault(`${which} value does not match required RegEx pattern`)
  return value
}

const BLOCK = /\$\[\[\s*([^\]]{1,1000}?)\s*\]\]/g

class Filler {
  readonly #values: Hash
  readonly #say: Say
  #added = 0

  constructor(values: Hash, say: Say) {
    this.#values = values
    this.#say = say
  }

  fill(value: Tree): Tree {
    if (typeof value === 'string') return this.#text(value)
    if (isList(value)) return value.map((each) => this.fill(each))
    if (!isHash(value)) return value
    const filled = newHash()
    for (const [key, each] of Object.entries(value)) filled[show(this.#text(key))] = this.fill(each)
    return filled
  }

  /** A text that is one block alone takes the input's own type. */
  #text(text: string): Tree {
    if (!text.includes('$[[')) return text
    const alone = /^\$\[\[\s*([^\]]{1,1000}?)\s*\]\]$/.exec(text)
    if (alone !== null) return this.#block(alone[1] ?? '')
    return text.replaceAll(BLOCK, (_, inner: string) => {
      const value = this.#block(inner)
      return isList(value) ? JSON.stringify(value) : show(value)
    })
  }

  #block(inner: string): Tree {
    const [access = '', ...functions] = inner.split('|').map((part) => part.trim())
    const name = /^inputs\.([\w-]+)$/.exec(access)?.[1]
    if (name === undefined || !(name in this.#values))
      throw this.#say(`unknown interpolation key: \`${access}\``)
    let value = this.#values[name] ?? null
    for (const call of functions) value = this.#apply(value, call)
    this.#added += typeof value === 'string' ? value.length : 1
    if (this.#added > MAX_ADDED_CHARACTERS) throw this.#say('The parsed YAML is too big')
    return value
  }

  #apply(value: Tree, call: string): Tree {
    const [, from, length] = /^truncate\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)$/.exec(call) ?? []
    if (from !== undefined && typeof value === 'string')
      return value.slice(Number(from), Number(from) + Number(length))
    // Variables expand later, where they are used.
    if (call === 'expand_vars' && typeof value === 'string') return value
    throw this.#say(
      `no function matching \`${call}\`: check that the function name, arguments, and types are correct`,
    )
  }
}
