import { EPIC_IN_THE_OPEN, EpicMismatch, ISSUE_IN_THE_OPEN } from '../core/epic_secrecy.ts'
import { invalid, type Problem } from '../http/problems.ts'

const mismatch = (text: string): Problem => invalid({ confidential: [text] })
export const issueInTheOpen = (): Problem => mismatch(ISSUE_IN_THE_OPEN)
export const epicInTheOpen = (): Problem => mismatch(EPIC_IN_THE_OPEN)

/** Awaits a change of an issue or an epic; why the two cannot be together becomes the answer. */
export const fitting = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw error instanceof EpicMismatch ? mismatch(error.message) : error
  })
