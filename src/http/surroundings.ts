import type { Instance } from '../instance.ts'
import type { AnswerCheck } from './answers/answers.ts'
import type { Visit, Visitor } from './entry.ts'
import type { Actor } from './gate.ts'

/** Parts of the server that operations need. */
export interface Surroundings {
  readonly instance: Instance
  /** Tells who is calling. Throws the published Problem for a token that will not do. */
  readonly signIn: (visit: Visit) => Promise<Visitor>
  /** Counts a request and gives the headers that its answer carries. Throws the published Problem for one too many. */
  readonly admit: (owner: Actor | null, ip: string) => Promise<Record<string, string>>
  /** Holds every answer against its schema: for tests; production only filters. */
  readonly checkAnswers: AnswerCheck | undefined
  /** Milliseconds in which a client must take a part of a large answer. */
  readonly stallMs?: number | undefined
}
