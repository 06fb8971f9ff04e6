import { EpicMismatch } from '../core/planning/epic_secrecy.ts'
import { invalid, type Problem } from '../http/problems.ts'

export const mismatch = (text: string): Problem => invalid({ confidential: [text] })

/** Awaits a change of an issue or an epic; why the two cannot be together becomes the answer. */
export const fitting = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw error instanceof EpicMismatch ? mismatch(error.message) : error
  })
