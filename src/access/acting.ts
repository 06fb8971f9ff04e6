import * as users from '../core/people/users.ts'
import type { Project } from '../core/places/projects.ts'
import type { Db } from '../db/db.ts'
import { contextOf, entryOf, type PathParams } from '../http/entry.ts'
import type { Tree } from '../http/params/forms.ts'
import type { AnyOperation, NamedOperation } from '../http/operation.ts'
import type { Instance } from '../instance.ts'

interface Act {
  readonly user_id: number
  /** The project that the path names, with what the user holds on it. */
  readonly project: Project
  readonly path: PathParams
  readonly sent: Tree
}

/**
 * Makes the function by which a job calls an operation of a project as a user: parameters, gates and handler as for a
 * request of theirs. It throws what the operation refuses; of a user who is gone or blocked nothing is done.
 */
export function actsBy(operation: AnyOperation): (instance: Instance, act: Act) => Promise<void> {
  const op: NamedOperation = { ...operation, name: operation.summary, area: 'jobs' }
  return async (instance, { user_id, project, path, sent }) => {
    const user = await users.find(instance.db, user_id)
    if (user?.state !== 'active') return
    const { id, username, name, email, admin, external } = user
    const visitor = {
      actor: { id, username, name, email, admin, external },
      tokenId: null,
      preloaded: project,
    }
    const visit = { method: op.method, headers: {}, sent, ip: '', preload: undefined }
    const run = async (db: Db): Promise<void> => {
      const ctx = contextOf({ ...instance, db }, visitor, visit)
      await entryOf(op)(ctx, sent, path)
      await op.handle(ctx as never)
    }
    await (op.moves !== undefined ? run(instance.db) : instance.db.transaction(run))
  }
}
