import { Type as t, type Static } from 'typebox'
import { Commit as CommitRecord, isoDate, presentCommit } from '../../records/repositories/commit.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Commit, GitDate } from '../../git/objects/commit.ts'
import { nullable, timestamp } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

export const Tag = t.Object({
  name: t.String(),
  message: nullable(t.String()),
  target: t.String(),
  commit: nullable(CommitRecord),
  release: t.Null(),
  protected: t.Boolean(),
  created_at: nullable(timestamp()),
})

export interface TagRow {
  readonly name: string
  /** The object of the ref: a tag object, or the commit itself. */
  readonly target: string
  readonly message: string | undefined
  /** The tagged commit; undefined for other objects. */
  readonly commit: Commit | undefined
  readonly tagged: GitDate | undefined
}

interface Here extends Pick<Instance, 'config'> {
  readonly project: Project
}

export const present = (row: TagRow, here: Here): Static<typeof Tag> => ({
  name: row.name,
  message: row.message ?? null,
  target: row.target,
  commit: row.commit ? presentCommit(row.commit, here.project, here) : null,
  release: null,
  protected: false,
  created_at: row.tagged ? isoDate(row.tagged) : null,
})
