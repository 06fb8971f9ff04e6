import type { PlanContext } from '../context.ts'
import type { Find } from '../expand.ts'
import type { Facts } from '../facts.ts'
import type { JobModel, PolicyModel } from '../model.ts'
import { readPattern } from '../patterns.ts'

// `only` and `except`.

/** Words for sources, singular and plural. */
const SOURCES: Readonly<Record<string, string>> = {
  push: 'push',
  pushes: 'push',
  web: 'web',
  schedule: 'schedule',
  schedules: 'schedule',
  trigger: 'trigger',
  triggers: 'trigger',
  api: 'api',
  pipeline: 'pipeline',
  pipelines: 'pipeline',
  external: 'external',
  parent_pipeline: 'parent_pipeline',
}

interface Where {
  readonly context: PlanContext
  readonly find: Find
  readonly facts: Facts
}

const DEFAULT_ONLY: PolicyModel = {
  refs: ['branches', 'tags'],
  variables: null,
  changes: null,
  kubernetes: false,
}

/**
 * Whether `only` and `except` let the job into the pipeline. A job with neither belongs to branches and tags, but to every
 * pipeline where the workflow has rules.
 */
export async function policiesAllow(
  job: JobModel,
  hasWorkflowRules: boolean,
  where: Where,
): Promise<boolean> {
  const { only, except } = job
  if (only === null && except === null && hasWorkflowRules) return true
  if (!(await allHold(only ?? DEFAULT_ONLY, job.name, where))) return false
  return except === null || !(await anyHolds(except, job.name, where))
}

async function holdsEach(
  { refs, variables, changes, kubernetes }: PolicyModel,
  job: string,
  where: Where,
): Promise<boolean[]> {
  const { context, find, facts } = where
  const answers: boolean[] = []
  if (refs !== null) answers.push(refs.some((ref) => matchesRef(ref, context)))
  if (variables !== null)
    answers.push(variables.some((expression) => expression.holds((name) => find(name)?.value)))
  if (changes !== null) answers.push(await facts.changes(changes, undefined, job))
  // There are no clusters here, so none is active.
  if (kubernetes) answers.push(false)
  return answers
}
const allHold = async (policy: PolicyModel, job: string, where: Where): Promise<boolean> =>
  (await holdsEach(policy, job, where)).every(Boolean)
const anyHolds = async (policy: PolicyModel, job: string, where: Where): Promise<boolean> =>
  (await holdsEach(policy, job, where)).some(Boolean)

function matchesRef(text: string, { source, ref, tag, project }: PlanContext): boolean {
  const [, word = text, path] = /^(.+)@([^@/][^@]*)$/s.exec(text) ?? []
  if (path !== undefined && path !== project) return false
  const isMergeRequest = source === 'merge_request_event'
  if (word === 'branches') return !tag && !isMergeRequest
  if (word === 'tags') return tag
  if (word === 'merge_requests') return isMergeRequest
  if (SOURCES[word] === source) return true
  if (isMergeRequest) return false
  if (word.startsWith('/')) return readPattern(word)?.found(ref) ?? false
  return word === ref
}
