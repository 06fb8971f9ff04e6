// Options that a client sends with a push (`git push -o`), as published. Names that mean nothing here are passed over.

/** Options of a push for the merge request of its branch. Absent ones stay, or have their default. */
export interface MergeRequestOptions {
  readonly create: boolean
  readonly target?: string
  /** Path or id of the project to merge into. */
  readonly target_project?: string
  readonly title?: string
  readonly description?: string
  /** Title of a milestone. */
  readonly milestone?: string
  readonly draft: boolean
  readonly squash: boolean
  readonly remove_source_branch: boolean
  readonly auto_merge: boolean
  readonly labels: readonly string[]
  readonly unlabels: readonly string[]
  /** Usernames or ids. */
  readonly assign: readonly string[]
  readonly unassign: readonly string[]
}

export interface PipelineOptions {
  /** Leaves a skipped pipeline for each branch and tag. */
  readonly skips: boolean
  /** Leaves none. */
  readonly none: boolean
  /** Base64 of sealed JSON: variables may be secrets. */
  readonly sealed_variables?: string
}

/** Options as they are kept on disk and in the queue. */
export interface PushOptions {
  /** All but variables. */
  readonly plain: readonly string[]
  readonly sealed_variables?: string
}

const MERGE_REQUEST = 'merge_request.'
const KEY = /^\w{1,255}$/
/** Values of one name that count. */
const MAX_VALUES = 100

interface Option {
  readonly name: string
  readonly value: string
}
function readOption(text: string): Option {
  const [name = ''] = text.split('=', 1)
  return { name, value: text.slice(name.length + 1) }
}

function reader(options: readonly string[]): {
  readonly has: (...names: string[]) => boolean
  readonly all: (name: string) => string[]
  readonly last: <Key extends string>(key: Key) => { readonly [K in Key]?: string }
} {
  const read = options.map(readOption)
  const all = (name: string): string[] =>
    read.flatMap((one) => (one.name === name && one.value !== '' ? [one.value] : [])).slice(0, MAX_VALUES)
  return {
    has: (...names) => read.some(({ name }) => names.includes(name)),
    all,
    last: (key) => {
      const value = all(MERGE_REQUEST + key).at(-1)
      return value === undefined ? {} : ({ [key]: value } as { [K in typeof key]?: string })
    },
  }
}

/** Undefined where no option is about merge requests. */
export function mergeRequestOptions(options: readonly string[]): MergeRequestOptions | undefined {
  if (!options.some((option) => option.startsWith(MERGE_REQUEST))) return undefined
  const { has, all, last } = reader(options)
  return {
    create: has('merge_request.create'),
    ...last('target'),
    ...last('target_project'),
    ...last('title'),
    ...last('description'),
    ...last('milestone'),
    draft: has('merge_request.draft'),
    squash: has('merge_request.squash'),
    remove_source_branch: has('merge_request.remove_source_branch'),
    auto_merge: has('merge_request.auto_merge', 'merge_request.merge_when_pipeline_succeeds'),
    labels: all('merge_request.label'),
    unlabels: all('merge_request.unlabel'),
    assign: all('merge_request.assign'),
    unassign: all('merge_request.unassign'),
  }
}

export function pipelineOptions({ plain, sealed_variables }: PushOptions): PipelineOptions {
  const { has } = reader(plain)
  return {
    skips: has('ci.skip'),
    none: has('ci.no_pipeline'),
    ...(sealed_variables !== undefined && { sealed_variables }),
  }
}

const VARIABLE = 'ci.variable'

/** Seals the variables of a push apart from its other options. */
export function sealOptions(seal: (text: string) => Buffer, options: readonly string[]): PushOptions {
  const plain = options.filter((option) => readOption(option).name !== VARIABLE)
  const variables = reader(options)
    .all(VARIABLE)
    .flatMap((text) => {
      const { name: key, value } = readOption(text)
      return KEY.test(key) ? [{ key, value }] : []
    })
  if (variables.length === 0) return { plain }
  return { plain, sealed_variables: seal(JSON.stringify(variables)).toString('base64') }
}

// prettier-ignore
const SERVED = new Set([
  'create', 'target', 'target_project', 'title', 'description', 'milestone', 'draft', 'squash', 'remove_source_branch',
  'auto_merge', 'merge_when_pipeline_succeeds', 'label', 'unlabel', 'assign', 'unassign',
])

const isServed = (name: string): boolean =>
  name.startsWith(MERGE_REQUEST)
    ? SERVED.has(name.slice(MERGE_REQUEST.length))
    : ['ci.skip', 'ci.no_pipeline', VARIABLE].includes(name)

/** Names of options that mean nothing here. */
export const unservedOptions = (options: readonly string[]): string[] => [
  ...new Set(options.map((option) => readOption(option).name).filter((name) => !isServed(name))),
]

/** Names of options about merge requests that mean something here. */
export const mergeRequestNames = (options: readonly string[]): string[] => [
  ...new Set(
    options
      .map((option) => readOption(option).name)
      .filter((name) => name.startsWith(MERGE_REQUEST) && isServed(name)),
  ),
]

/** Whether an option gives a variable that no pipeline can have. */
export const hasBadVariable = (options: readonly string[]): boolean =>
  options.map(readOption).some(({ name, value }) => name === VARIABLE && !KEY.test(readOption(value).name))
