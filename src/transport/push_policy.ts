import type { Project } from '../core/places/projects.ts'
import { mayMerge, mayPush, type PushRule } from '../core/repositories/protected_branches.ts'
import { ROLES } from '../core/sight/roles.ts'
import { isBranchName } from '../core/pushes/commit_writing.ts'
import { isRefName, isServerRef } from '../git/names.ts'
import { isFullRefName } from '../git/refs/refs.ts'
import type { PushCommand } from '../git/wire/push_request.ts'
import type { Actor } from '../http/gate.ts'

/** Facts that decide about a push beside its commands. */
export interface PushContext {
  readonly actor: Actor
  readonly project: Project
  /** The protection of a branch; undefined without one. */
  readonly rules: (branch: string) => PushRule | undefined
  /** The repository has no branch yet, and this holds for every one. */
  readonly whileEmpty: { readonly rule: PushRule | undefined } | undefined
  /** The only branches that may be pushed; undefined where the rules decide alone. */
  readonly only: ReadonlySet<string> | undefined
  /** Where the members of the project are listed. */
  readonly membersUrl: string
}

/** The first check of a command: a refusal in words, or the checks still needed. */
export interface Judged {
  readonly refusal?: string
  /** It must add to what is there: the branch is protected from force. */
  readonly onlyForward?: boolean
}

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'
/** Git's own words for a ref that a server keeps to itself. */
export const HIDDEN = 'deny updating a hidden ref'
const HASH_NAME = /^[0-9a-f]{40}(-\/|\/|$)/i
const HASH_START = /^[0-9a-f]{40}/i

/** Judges one command by the published rules, in the published words. */
export function judge(command: PushCommand, context: PushContext): Judged {
  const { ref } = command
  const { only } = context
  if (
    only !== undefined &&
    !(ref.startsWith(HEADS) && only.has(ref.slice(HEADS.length)) && command.to !== undefined)
  )
    return { refusal: 'You are not allowed to push code to this project.' }
  if (ref.startsWith(HEADS)) return judgeBranch(ref.slice(HEADS.length), command, context)
  if (ref.startsWith(TAGS)) return judgeTag(ref.slice(TAGS.length), command, context)
  if (isServerRef(ref)) return { refusal: HIDDEN }
  return isFullRefName(ref) ? {} : { refusal: 'funny refname' }
}

function judgeTag(tag: string, { from, to }: PushCommand, { project }: PushContext): Judged {
  if (!isRefName(tag)) return { refusal: 'funny refname' }
  if (from === undefined && tag === project.default_branch)
    return { refusal: 'You cannot use default branch name to create a tag' }
  if (to === undefined) return {}
  if (tag.startsWith('refs/tags/')) return { refusal: 'You cannot create a tag with a prohibited pattern.' }
  if (HASH_START.test(tag)) return { refusal: 'You cannot create a tag with a SHA-1 or SHA-256 tag name.' }
  if (!isBranchName(tag)) return { refusal: 'Tag name is invalid' }
  return {}
}

function judgeBranch(branch: string, command: PushCommand, context: PushContext): Judged {
  const { from, to } = command
  if (!isRefName(branch)) return { refusal: 'funny refname' }
  if (to === undefined && branch === context.project.default_branch)
    return { refusal: 'The default branch of a project cannot be deleted.' }
  if (to !== undefined && HASH_NAME.test(branch))
    return { refusal: 'You cannot create a branch with a 40-character hexadecimal branch name.' }
  if (to !== undefined && !isBranchName(branch)) return { refusal: 'Branch name is invalid' }
  if (context.whileEmpty !== undefined) return judgeFirst(context, context.whileEmpty.rule)
  const rule = context.rules(branch)
  if (rule === undefined) return {}
  if (to === undefined) return { refusal: deletion(context) }
  const holder = holderOf(context)
  if (from === undefined) return mayPush(rule, holder) ? {} : { refusal: creation(rule, context) }
  // Without the right to push, the refusal says that and does not mention force.
  if (!mayPush(rule, holder))
    return { refusal: 'You are not allowed to push code to protected branches on this project.' }
  return { onlyForward: !rule.allowForcePush }
}

const holderOf = ({ actor, project }: PushContext): { id: number; role: number; admin: boolean } => ({
  id: actor.id,
  role: project.role,
  admin: actor.admin,
})

function judgeFirst(context: PushContext, rule: PushRule | undefined): Judged {
  if (mayPush(rule, holderOf(context))) return {}
  return {
    refusal: [
      `A default branch (e.g. main) does not yet exist for ${context.project.full_path}`,
      'Ask a project Owner or Maintainer to create a default branch:',
      '',
      `  ${context.membersUrl}`,
    ].join('\n'),
  }
}

const creation = (rule: PushRule, context: PushContext): string =>
  mayMerge(rule, holderOf(context))
    ? 'You can only create protected branches using the web interface and API.'
    : 'You are not allowed to create protected branches on this project.'

const deletion = ({ actor, project }: PushContext): string =>
  actor.admin || project.role >= ROLES.maintainer
    ? 'You can only delete protected branches using the web interface.'
    : 'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.'
