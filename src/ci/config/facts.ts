import { ConfigFault } from './yaml/config_fault.ts'
import type { CompileContext, ProjectFiles } from './context.ts'
import { expand, type Find } from './expand.ts'
import { fixedPrefix, hasWildcard, readGlob } from './globs.ts'
import type { Conditions, ExistsCondition } from './model.ts'

/** Where rules look: the paths that commits change and the files of projects, each asked for once. */
export interface Surroundings {
  readonly changedPaths: CompileContext['changedPaths']
  readonly files: ProjectFiles
  readonly openProject: CompileContext['openProject']
}

/** More checks than this count as a match, as published. */
const MAX_CHECKS = 50_000

/** Decides conditions of rules; answers are remembered, so that a thousand jobs with the same rule cost one look. */
export class Facts {
  readonly #around: Surroundings
  readonly #answers = new Map<string, Promise<boolean>>()
  readonly #trees = new Map<string, Promise<readonly string[]>>()

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** Whether all given conditions hold. `job` is named in the faults. Undefined variables are null in `if`. */
  async hold(conditions: Conditions, find: Find, job: string): Promise<boolean> {
    if (conditions.if && !conditions.if.holds((name) => find(name)?.value)) return false
    if (conditions.changes) {
      const { paths, compare_to } = conditions.changes
      const to = compare_to === null ? undefined : expand(compare_to, find)
      if (!(await this.changes(expandAll(paths, find), to, job))) return false
    }
    if (!conditions.exists) return true
    const { paths, project, ref } = conditions.exists
    return this.exists(
      {
        paths: expandAll(paths, find),
        project: project && expand(project, find),
        ref: ref && expand(ref, find),
      },
      job,
    )
  }

  /** Whether a changed path matches; true where there is no list of changes. */
  changes(patterns: readonly string[], compareTo: string | undefined, job: string): Promise<boolean> {
    return this.#once(JSON.stringify(['changes', patterns, compareTo]), async () => {
      const paths = await this.#around.changedPaths(compareTo)
      if (paths === 'ref')
        throw new ConfigFault(`Failed to parse rule for ${job}: rules:changes:compare_to is not a valid ref`)
      if (paths === null || paths.length * patterns.length > MAX_CHECKS) return true
      const globs = patterns.map(readGlob)
      return paths.some((path) => globs.some((matches) => matches(path)))
    })
  }

  exists(condition: ExistsCondition, job: string): Promise<boolean> {
    return this.#once(JSON.stringify(['exists', condition]), async () => {
      const files = await this.#filesOf(condition, job)
      return anyExists(files, condition.paths.map(clean), this.#trees)
    })
  }

  async #filesOf({ project, ref }: ExistsCondition, job: string): Promise<ProjectFiles> {
    if (project === null) return this.#around.files
    const files = await this.#around.openProject(project, ref)
    if (files === 'project')
      throw new ConfigFault(
        `Failed to parse rule for ${job}: rules:exists:project \`${project}\` is not a valid project path`,
      )
    if (files === 'ref')
      throw new ConfigFault(
        `Failed to parse rule for ${job}: rules:exists:ref \`${ref ?? ''}\` is not a valid ref in project \`${project}\``,
      )
    return files
  }

  #once(key: string, decide: () => Promise<boolean>): Promise<boolean> {
    const known = this.#answers.get(key) ?? decide()
    this.#answers.set(key, known)
    return known
  }
}

/** Paths are whole, from the root, without `/` or `./` before them. */
const clean = (path: string): string => path.replace(/^(?:\.?\/)+/, '')
const expandAll = (texts: readonly string[], find: Find): string[] => texts.map((text) => expand(text, find))

async function anyExists(
  files: ProjectFiles,
  patterns: readonly string[],
  trees: Map<string, Promise<readonly string[]>>,
): Promise<boolean> {
  const key = `${files.project}@${files.sha}`
  const tree = trees.get(key) ?? files.paths()
  trees.set(key, tree)
  const paths = await tree
  const globbed = patterns.filter(hasWildcard)
  const exact = new Set(patterns.filter((pattern) => !hasWildcard(pattern)))
  const folders = [...exact].filter((pattern) => pattern.endsWith('/'))
  if (paths.some((path) => exact.has(path) || folders.some((folder) => path.startsWith(folder)))) return true
  if (globbed.length * paths.length > MAX_CHECKS) return true
  return globbed.some((pattern) => {
    const [prefix, matches] = [fixedPrefix(pattern), readGlob(pattern)]
    return paths.some((path) => path.startsWith(prefix) && matches(path))
  })
}
