import { Type as t, type Static } from 'typebox'
import { Commit as CommitRecord, presentCommit } from '../../records/repositories/commit.ts'
import type { Project } from '../../core/places/projects.ts'
import { mayPush, type PushRule } from '../../core/repositories/protected_branches.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { Actor } from '../../http/gate.ts'
import type { Instance } from '../../instance.ts'

export const Branch = t.Object({
  name: t.String(),
  merged: t.Boolean(),
  protected: t.Boolean(),
  default: t.Boolean(),
  developers_can_push: t.Boolean(),
  developers_can_merge: t.Boolean(),
  can_push: t.Boolean(),
  web_url: t.String(),
  commit: CommitRecord,
})

export interface BranchRow {
  readonly name: string
  readonly commit: Commit
  readonly merged: boolean
  readonly rule: PushRule | undefined
}

interface Here extends Pick<Instance, 'config'> {
  readonly project: Project
  readonly actor: Actor | null
}

export function present({ name, commit, merged, rule }: BranchRow, here: Here): Static<typeof Branch> {
  const { project, actor, config } = here
  return {
    name,
    merged,
    protected: rule !== undefined,
    default: name === project.default_branch,
    developers_can_push: rule !== undefined && isOpen(rule.push),
    developers_can_merge: rule !== undefined && isOpen(rule.merge),
    can_push: actor !== null && mayPush(rule, { id: actor.id, role: project.role, admin: actor.admin }),
    web_url: `${config.url}/${project.full_path}/-/tree/${name.split('/').map(encodeURIComponent).join('/')}`,
    commit: presentCommit(commit, project, here),
  }
}

const isOpen = (level: number): boolean => level > 0 && level <= ROLES.developer
