import { ConfigFault } from '../yaml/config_fault.ts'
import { expand, type Find } from '../expand.ts'
import { isStrings } from '../faults.ts'
import { isHash, newHash, type Hash, type Tree } from '../yaml/tree.ts'

interface Given {
  readonly inputs: Hash
  readonly rules: Tree
}
/** One item of `include`, its variables expanded. Paths are without a leading slash. */
export type Include =
  | (Given & { readonly kind: 'local'; readonly path: string })
  | (Given & { readonly kind: 'artifact'; readonly path: string; readonly job: string })
  | (Given & {
      readonly kind: 'project'
      readonly project: string
      readonly ref: string | null
      readonly paths: readonly string[]
    })

const KINDS = ['local', 'project', 'remote', 'template', 'artifact', 'component'] as const
const NAMES = KINDS.map((kind) => `\`${kind}\``).join(', ')

/** Reads an item. Throws ConfigFault for a form that is none, and for kinds that need the network or another product. */
export function readInclude(item: Tree, find: Find): Include {
  const hash = typeof item === 'string' ? fromText(item) : item
  if (!isHash(hash)) throw noSubkey(item)
  const kinds = KINDS.filter((kind) => kind in hash)
  if (kinds.length > 1) throw new ConfigFault(`Each include must use only one of: ${NAMES}`)
  const given = { inputs: isHash(hash['inputs']) ? hash['inputs'] : newHash(), rules: hash['rules'] ?? null }
  const text = (key: string): string => locationOf(hash[key] ?? null, find)
  switch (kinds[0]) {
    case 'local':
      return { ...given, kind: 'local', path: pathOf(text('local')) }
    case 'project':
      return { ...given, kind: 'project', ...readProject(hash, find) }
    case 'remote':
      throw new ConfigFault(remoteFault(text('remote')))
    case 'template':
      throw new ConfigFault(templateFault(text('template')))
    case 'component':
      throw new ConfigFault(`Component '${text('component')}' - content not found`)
    case 'artifact':
      if (hash['job'] === undefined || hash['job'] === null)
        throw new ConfigFault('include config must specify the job where to fetch the artifact from')
      return { ...given, kind: 'artifact', path: pathOf(text('artifact')), job: text('job') }
    default:
      throw noSubkey(item)
  }
}

const fromText = (text: string): Hash =>
  Object.assign(newHash(), /^https?:\/\//.test(text) ? { remote: text } : { local: text })
const noSubkey = (item: Tree): ConfigFault =>
  new ConfigFault(
    `\`${JSON.stringify(item).slice(0, 500)}\` does not have a valid subkey for include. Valid subkeys are: ${NAMES}`,
  )

function readProject(hash: Hash, find: Find): { project: string; ref: string | null; paths: string[] } {
  const { file, ref } = hash
  const files = typeof file === 'string' ? [file] : file
  if (!isStrings(files) || files.length === 0)
    throw new ConfigFault('include config must specify the file where to fetch the config from')
  return {
    project: locationOf(hash['project'] ?? null, find),
    ref: ref === undefined || ref === null ? null : locationOf(ref, find),
    paths: files.map((path) => pathOf(expand(path, find))),
  }
}

function locationOf(value: Tree, find: Find): string {
  if (typeof value !== 'string')
    throw new ConfigFault(`Included file \`${JSON.stringify(value)}\` needs to be a string`)
  return expand(value, find)
}

function pathOf(path: string): string {
  if (!/\.ya?ml$/.test(path)) throw new ConfigFault(`Included file \`${path}\` does not have YAML extension!`)
  return path.replace(/^(?:\.?\/)+/, '')
}

const remoteFault = (url: string): string =>
  /^https?:\/\/[^\s/]+/.test(url)
    ? `Remote file \`${url}\` could not be fetched because of HTTP error!`
    : `Remote file \`${url}\` does not have a valid address!`
const templateFault = (name: string): string =>
  name.endsWith('.gitlab-ci.yml')
    ? `Included file \`${name}\` is empty or does not exist!`
    : `Template file \`${name}\` is not a valid location!`
