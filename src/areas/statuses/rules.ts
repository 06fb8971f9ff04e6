import { lengthFaults } from '../../core/values/lengths.ts'

export const STATES = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const
export type State = (typeof STATES)[number]

/** The published name of the step into each state, which refusals tell. */
const STEPS: Readonly<Record<State, string>> = {
  pending: 'enqueue',
  running: 'run',
  success: 'success',
  failed: 'drop',
  canceled: 'cancel',
  skipped: 'skip',
}

/** States that a status can still leave: what is said next about the same name changes it instead of standing beside it. */
export const OPEN: readonly State[] = ['pending', 'running']

const WAYS: Readonly<Record<string, readonly State[]>> = {
  pending: ['running', 'success', 'failed', 'canceled', 'skipped'],
  running: ['success', 'failed', 'canceled'],
}

/** Why a status cannot go from one state to another; undefined when it can. */
export function stepFault(from: State, to: State): string | undefined {
  if (WAYS[from]?.includes(to) === true) return undefined
  const step = STEPS[to]
  return `Cannot transition status via :${step} from :${from} (Reason(s): Status cannot transition via "${step}")`
}

const MAX_TEXT_CHARACTERS = 255

interface Texts {
  readonly name: string
  readonly target_url: string | undefined
  readonly description: string | undefined
}

/** Faults of the texts of a status by attribute, empty without any. */
export function textFaults({ name, target_url: url, description }: Texts): Record<string, string[]> {
  const faults = {
    name: lengthFaults(name, MAX_TEXT_CHARACTERS),
    target_url: [
      ...lengthFaults(url, MAX_TEXT_CHARACTERS),
      ...(url !== undefined && url !== '' && !/^https?:\/\/[^\s/]/i.test(url)
        ? ['is blocked: Only allowed schemes are http, https']
        : []),
    ],
    description: lengthFaults(description, MAX_TEXT_CHARACTERS),
  }
  return Object.fromEntries(Object.entries(faults).filter(([, texts]) => texts.length > 0))
}
