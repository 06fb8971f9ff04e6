import { ConfigFault, YamlFault } from '../yaml/config_fault.ts'
import { conditionsOf } from '../conditions.ts'
import type { CompileContext, ConfigLimits, ConfigSource, IncludedFile, ProjectFiles } from '../context.ts'
import { byKey, findIn, type Find } from '../expand.ts'
import { Facts } from '../facts.ts'
import { Faults, report } from '../faults.ts'
import { readGlob, hasWildcard } from '../globs.ts'
import { readInclude, type Include } from './include_forms.ts'
import { fillInputs } from './inputs.ts'
import { checkIncludeRules } from '../checks/rules.ts'
import { deepMerge, flatten, isHash, newHash, type Hash, type Tree } from '../yaml/tree.ts'
import { parseYaml } from '../yaml/yaml_text.ts'

/** All files of a configuration merged into one: included ones in their order, later over earlier, the including file over all. */
export interface Merged {
  readonly root: Hash
  readonly includes: readonly IncludedFile[]
  /** Line of each root key of the main file. */
  readonly lines: ReadonlyMap<string, number>
}

const MAX_FILE_DEPTH = 20

/** Reads a file with everything it includes. Throws ConfigFault and YamlFault. */
export async function readFiles(
  source: ConfigSource,
  context: CompileContext,
  limits: ConfigLimits,
): Promise<Merged> {
  const reader = new Reader(context, limits)
  const place = { files: context.files, path: source.path, depth: 0, inputs: newHash() }
  const { content, lines } = await reader.parse(source.content, place)
  return { root: await reader.include(content, place), includes: reader.included, lines }
}

/** Where a file lies, and what it was given. */
interface Place {
  readonly files: ProjectFiles
  readonly path: string
  readonly depth: number
  readonly inputs: Hash
}
interface Found {
  readonly place: Place
  readonly type: IncludedFile['type']
  readonly extra: IncludedFile['extra']
  readonly text: string
}

class Reader {
  readonly included: IncludedFile[] = []
  readonly #context: CompileContext
  readonly #limits: ConfigLimits
  readonly #find: Find
  #bytes = 0

  constructor(context: CompileContext, limits: ConfigLimits) {
    this.#context = context
    this.#limits = limits
    this.#find = findIn(byKey(context.variables))
  }

  async parse(
    text: string,
    { path, inputs }: Place,
  ): Promise<{ readonly content: Hash; readonly lines: ReadonlyMap<string, number> }> {
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes > this.#limits.total_bytes)
      throw new ConfigFault('Total size of combined CI/CD configuration is too big')
    const limits = { bytes: this.#limits.file_bytes, depth: this.#limits.depth }
    const { documents, lines } = await parseYaml(text, limits)
    const [first = newHash(), second] = documents
    const header = second === undefined ? undefined : first
    return { content: fillInputs({ header, content: second ?? first }, inputs, path), lines }
  }

  /** The content of a file over the files that it includes, without the keyword itself. */
  async include(content: Hash, place: Place): Promise<Hash> {
    const { include, ...own } = content
    let merged: Tree = newHash()
    for (const item of flatten(include)) {
      const form = readInclude(item, this.#find)
      if (!(await this.#applies(form, place))) continue
      for (const found of await this.#open(form, place))
        merged = deepMerge(merged, await this.#read(found, place))
    }
    return deepMerge(merged, Object.assign(newHash(), own)) as Hash
  }

  async #applies({ rules }: Include, place: Place): Promise<boolean> {
    if (rules === null) return true
    const faults = new Faults()
    checkIncludeRules({ path: 'include:rules', faults }, rules)
    if (faults.texts.length > 0) throw new ConfigFault(...faults.texts)
    const facts = new Facts({ ...this.#context, files: place.files })
    for (const rule of flatten(rules))
      if (isHash(rule) && (await facts.hold(conditionsOf(rule), this.#find, 'include')))
        return rule['when'] !== 'never'
    return false
  }

  async #read({ place, type, extra, text }: Found, from: Place): Promise<Hash> {
    if (this.included.length >= this.#limits.includes || place.depth > MAX_FILE_DEPTH)
      throw new ConfigFault(`Maximum of ${this.#limits.includes} nested includes are allowed!`)
    this.included.push({
      type,
      location: place.path,
      extra,
      context_project: from.files.project,
      context_sha: from.files.sha,
      project: place.files.project,
      sha: place.files.sha,
    })
    const { content } = await this.parse(text, place).catch((error: unknown) => {
      if (!(error instanceof YamlFault)) throw error
      throw new ConfigFault(
        `Included file \`${place.path}\` does not have valid YAML syntax! ${error.message}`,
      )
    })
    return this.include(content, place)
  }

  async #open(form: Include, from: Place): Promise<Found[]> {
    const depth = from.depth + 1
    const { inputs } = form
    if (form.kind === 'local') {
      const paths = await this.#expandGlob(form.path, from.files)
      return Promise.all(
        paths.map(async (path) => ({
          place: { files: from.files, path, depth, inputs },
          type: 'local' as const,
          extra: {},
          text: await readOr(from.files, path, `Local file \`${path}\``),
        })),
      )
    }
    if (form.kind === 'artifact') {
      const text = await this.#readArtifact(form.job, form.path)
      const place = { files: from.files, path: form.path, depth, inputs }
      return [{ place, type: 'file', extra: { job: form.job }, text }]
    }
    const { project, ref } = form
    const files = await this.#context.openProject(project, ref)
    if (files === 'project')
      throw new ConfigFault(
        `Project \`${project}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`,
      )
    if (files === 'ref')
      throw new ConfigFault(`Project \`${project}\` reference \`${ref ?? 'HEAD'}\` does not exist!`)
    return Promise.all(
      form.paths.map(async (path) => ({
        place: { files, path, depth, inputs },
        type: 'file' as const,
        extra: { project, ref: ref ?? 'HEAD' },
        text: await readOr(files, path, `Project \`${project}\` file \`${path}\``),
      })),
    )
  }

  async #readArtifact(job: string, path: string): Promise<string> {
    if (this.#context.readArtifact === undefined)
      throw new ConfigFault(
        'Including configs from artifacts is only allowed when triggering child pipelines',
      )
    const text = await this.#context.readArtifact(job, path)
    if (typeof text !== 'string') throw new ConfigFault(text.fault)
    if (text.trim() === '') throw new ConfigFault(`Artifact file \`${path}\` is empty!`)
    return text
  }

  async #expandGlob(path: string, files: ProjectFiles): Promise<string[]> {
    if (!hasWildcard(path)) return [path]
    const matches = readGlob(path)
    return (await files.paths()).filter((each) => matches(each)).toSorted()
  }
}

async function readOr(files: ProjectFiles, path: string, subject: string): Promise<string> {
  const text = await files.read(path)
  if (text === undefined) throw new ConfigFault(`${subject} does not exist!`)
  if (text.trim() === '') throw new ConfigFault(`${subject} is empty!`)
  return text
}

/** Reports a root keyword `include` that is no list, hash or text. */
export function checkInclude(faults: Faults, value: Tree | undefined): void {
  if (typeof value === 'number' || typeof value === 'boolean')
    report({ path: 'include', faults }, 'should be a hash or an array')
}
