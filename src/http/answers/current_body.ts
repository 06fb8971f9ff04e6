import type { Db } from '../../db/db.ts'
import type { Instance } from '../../instance.ts'
import { writer, type AnswerCheck } from './answers.ts'
import { compilePreload, contextOf, entryOf, type PathParams, type Visit, type Visitor } from '../entry.ts'
import { emptyTree } from '../params/forms.ts'
import { Answer, pageOptionsOf, type NamedOperation } from '../operation.ts'

interface Around {
  readonly instance: Instance
  readonly signIn: (visit: Visit) => Promise<Visitor>
  readonly checkAnswers: AnswerCheck | undefined
}

/**
 * Reads what the GET `op` answers the same caller with the same parameters, all of it anew, for a write at its path;
 * `reads` is what the write calls some of them.
 */
export function compileRepresent(
  op: NamedOperation,
  reads: Readonly<Record<string, string>>,
  { instance, signIn, checkAnswers }: Around,
): (db: Db, visit: Visit, path: PathParams) => Promise<string | undefined> {
  const alongOf = compilePreload(op)
  let write: ((body: unknown) => string) | undefined
  return async (db, visit, path) => {
    const sent = Object.assign(emptyTree(), visit.sent)
    for (const [there, here] of Object.entries(reads)) sent[there] = sent[here] ?? ''
    const visitor = await signIn({ ...visit, sent, preload: alongOf(path) })
    const ctx = contextOf({ ...instance, db }, visitor, { ...visit, sent })
    await entryOf(op)(ctx, sent, path)
    const answer = await op.handle(ctx as never)
    const result = answer instanceof Answer ? answer.body : answer
    if (result === null) return undefined
    write ??= writer(op.name, op.returns, checkAnswers)
    return write(pageOptionsOf(op.returns) ? (result as { items: unknown }).items : result)
  }
}
