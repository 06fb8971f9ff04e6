import { Type as t } from 'typebox'
import type { NoteableKind } from '../core/conversation/noteable.ts'
import { commitNoteable } from '../core/conversation/note_reading.ts'
import { repositoryPath } from '../core/places/projects.ts'
import { loads, type Allows, type AnyGate, type Has, type Loads } from '../http/gate.ts'
import type { AnyOperation } from '../http/operation.ts'
import { noSuchRecord, notFound, type Problem } from '../http/problems.ts'
import {
  PLAIN,
  inGroup,
  inProject,
  ofEpic,
  ofIssue,
  ofMergeRequest,
  ofSnippet,
  type Here,
  type InProject,
} from './conversation_records.ts'
import { group, mayReadCode, project } from './gates/gates.ts'
import { epic, epicById, issue, mergeRequest, snippet } from './gates/noteable_gates.ts'
import { note } from './note_permissions.ts'
import { premiumOrAbsent, premiumPlanOrAbsent } from './tiers.ts'

// Conversations are alike whatever they are about. An operation is written once, behind the gate `noteable` that stands
// for the gates of any base, and `onEach` puts it on one base after the other.

const commitOfPath = loads({
  param: 'commit_id',
  type: t.String({ description: 'A hash, a branch or a tag' }),
  as: 'commit',
  says: 'a commit of a repository whose code the caller may read',
  missing: () => notFound('Commit'),
  find: async ({ actor, git, project }: InProject, rev) => {
    if (!mayReadCode(actor, project)) return undefined
    const repository = git.repository(repositoryPath(project.id))
    const sha = await repository.resolve(rev)
    return sha === undefined ? undefined : repository.commit(sha)
  },
})

/** The same gate, which gives what every base gives too. */
const giving = <Param extends string, Needs extends object, Gives extends object>(
  gate: Loads<Param, Needs, Gives>,
  here: (ctx: Has<Needs>, found: Gives) => Here | Promise<Here>,
): Loads<Param, Needs, Gives & Here> => ({
  ...gate,
  pass: async (ctx, value) => {
    const found = await gate.pass(ctx, value)
    return found && { ...found, ...(await here(ctx, found)) }
  },
})

/** One kind of thing that is talked about, and where. */
interface Base {
  readonly kind: NoteableKind
  /** As operations are named: `listIssueDiscussions`. */
  readonly noun: string
  readonly words: string
  readonly path: string
  /** Gates before all others, such as a licence. */
  readonly first?: readonly AnyGate[]
  readonly gates: readonly AnyGate[]
  /** Set where the specification shows the base itself. */
  readonly specified?: true
}

const issueBase: Base = {
  kind: 'issue',
  noun: 'Issue',
  words: 'an issue',
  path: '/projects/:id/issues/:issue_iid',
  gates: [project, giving(issue, (ctx, { issue }) => ({ noteable: ofIssue(issue), ...inProject(ctx) }))],
  specified: true,
}
const mergeRequestBase: Base = {
  kind: 'merge_request',
  noun: 'MergeRequest',
  words: 'a merge request',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  gates: [
    project,
    giving(mergeRequest, (ctx, { mergeRequest }) => ({
      noteable: ofMergeRequest(mergeRequest),
      ...inProject(ctx),
    })),
  ],
}
const snippetBase: Base = {
  kind: 'snippet',
  noun: 'Snippet',
  words: 'a snippet',
  path: '/projects/:id/snippets/:snippet_id',
  gates: [
    project,
    giving(snippet, (ctx, { snippet }) => ({ noteable: ofSnippet(snippet), ...inProject(ctx) })),
  ],
}
const onEpic = (gate: typeof epic | typeof epicById): AnyGate =>
  giving(gate as typeof epic, (ctx, { epic }) => ({ noteable: ofEpic(epic), ...inGroup(ctx) }))
const epicByIdBase: Base = {
  kind: 'epic',
  noun: 'Epic',
  words: 'an epic',
  path: '/groups/:id/epics/:epic_id',
  first: [premiumOrAbsent],
  gates: [group, premiumPlanOrAbsent.group, onEpic(epicById)],
}
const epicByIidBase: Base = {
  ...epicByIdBase,
  path: '/groups/:id/epics/:epic_iid',
  gates: [group, premiumPlanOrAbsent.group, onEpic(epic)],
}
const commitBase: Base = {
  kind: 'commit',
  noun: 'Commit',
  words: 'a commit',
  path: '/projects/:id/repository/commits/:commit_id',
  gates: [
    project,
    giving(commitOfPath, async (ctx, { commit: { id: sha } }) => ({
      noteable: {
        ...PLAIN,
        kind: 'commit',
        id: await commitNoteable(ctx.db, ctx.project.id, sha),
        sha,
        project_id: ctx.project.id,
        author_id: null,
      },
      ...inProject(ctx),
    })),
  ],
}

/** Stands in an operation for the gates of the base that it is put on. */
export const noteable: Allows<object, Here> = {
  kind: 'allows',
  says: 'a record that the caller can see',
  refuses: noSuchRecord,
  pass: () => {
    throw new Error('an operation of conversations stands on no base')
  },
}

/** The operation, on that base. */
function on(base: Base, op: AnyOperation): AnyOperation {
  const { published, ...rest } = op
  const swap = (gates: readonly AnyGate[] = []): AnyGate[] =>
    gates.flatMap((gate) => (gate === noteable ? base.gates : [gate]))
  return {
    ...rest,
    path: `${base.path}${op.path}`,
    summary: op.summary.replace('#', base.words),
    first: [...(base.first ?? []), ...swap(op.first)],
    gates: swap(op.gates),
    ...((published === true || base.specified !== true) && { published: true as const }),
  }
}

/** The operations, on each of the bases; `#` in their names and summaries becomes the base's noun and words. */
export const onEach = (
  bases: readonly Base[],
  operations: Readonly<Record<string, AnyOperation>>,
): Readonly<Record<string, AnyOperation>> =>
  Object.fromEntries(
    bases.flatMap((base) =>
      Object.entries(operations).map(([name, op]) => [name.replace('#', base.noun), on(base, op)] as const),
    ),
  )

/** The bases of single comments, of threads and of reactions. */
export const NOTE_BASES = [issueBase, mergeRequestBase, snippetBase, epicByIdBase]
export const DISCUSSION_BASES = [...NOTE_BASES, commitBase]

const noReaction = (): Problem => notFound('Award Emoji')

/** Hidden and absent records have the same answer: no reactions. */
const withoutReactions = (base: Base): Base => {
  const [parent, ...rest] = base.gates
  if (parent === undefined) return base
  return {
    ...base,
    gates: [parent, ...rest.map((gate) => (gate.kind === 'loads' ? { ...gate, refuses: noReaction } : gate))],
  }
}
const onNotesOf = ({ specified: _specified, ...base }: Base): Base => ({
  ...base,
  noun: `${base.noun}Note`,
  words: `a note on ${base.words}`,
  path: `${base.path}/notes/:note_id`,
  gates: [...base.gates, { ...note, refuses: noReaction }],
})
const reactions = [
  { ...issueBase, specified: true as const },
  { ...mergeRequestBase, specified: true as const },
  { ...snippetBase, specified: true as const },
  epicByIidBase,
].map(withoutReactions)
export const REACTION_BASES = [...reactions, ...reactions.map(onNotesOf)]
