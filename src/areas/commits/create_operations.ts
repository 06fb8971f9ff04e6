import { Type as t } from 'typebox'
import { MAX_MESSAGE_BYTES } from '../../git/objects/commit.ts'
import { code, filledRepository } from '../../access/gates/code_gates.ts'
import { mayReadCode, signedIn } from '../../access/gates/gates.ts'
import { committed, pushes } from '../../access/gates/push_gates.ts'
import { CommitDetail } from '../../records/repositories/commit.ts'
import { commitChanges } from '../../core/pushes/commit_writing.ts'
import { presentFreshDetail } from '../../records/repositories/fresh_commit.ts'
import { findStart, isRelated } from '../../core/places/fork_network.ts'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import type { Gate } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { forbidden, notFound, refused, type Problem } from '../../http/problems.ts'
import { filled } from '../../http/params/schema.ts'
import { Action, changesOf, knownIn } from './actions.ts'

const MB = 1024 * 1024

const notInNetwork = (name: string): Problem =>
  forbidden(`Project is not included in the fork network for ${name}`)
const noProject = (): Problem => notFound('Project')

/** The commit starts in the project itself, or where it was forked from or to, as far as the caller reads the code there. */
const startProject: Gate<
  'checks',
  never,
  { project: Project; params: { start_project?: string } },
  { readonly startIn: string | undefined }
> = {
  kind: 'checks',
  says: 'a start within the fork network',
  refuses: () => notInNetwork('the project'),
  pass: async ({ actor, db, project, params: { start_project: ref = '' } }) => {
    if (ref === '' || ref === String(project.id)) return { startIn: undefined }
    const found = await findStart(db, ref, actor?.id ?? null)
    if (found === undefined || !canSee(actor, found.visibility, found.role, ROLES.guest)) throw noProject()
    if (found.id === project.id) return { startIn: undefined }
    if (!isRelated(found, project) || !mayReadCode(actor, found)) throw notInNetwork(found.full_name)
    return { startIn: repositoryPath(found.id) }
  },
}

/** Text of a person in a commit: what would end it there is refused. */
const personal = (description: string): ReturnType<typeof t.String> =>
  t.String({ pattern: '^[^<>\\r\\n]*$', maxLength: 1_000, description })

export const createCommit = operation({
  method: 'POST',
  path: '/projects/:id/repository/commits',
  summary: 'Create a commit with changes of files',
  takes: 300 * MB,
  moves: 'refs',
  first: code,
  params: t.Object(
    {
      branch: filled(),
      commit_message: t.String({ maxBytes: MAX_MESSAGE_BYTES }),
      actions: t.Array(Action, { minItems: 1, json: true }),
      start_branch: t.Optional(t.String({ description: 'The branch that a new one starts from' })),
      start_sha: t.Optional(t.String({ description: 'The commit that a new branch starts from' })),
      start_project: t.Optional(t.String({ description: 'An id or a full path; default is this project' })),
      author_email: t.Optional(personal('Default is the address of the caller')),
      author_name: t.Optional(personal('Default is the name of the caller')),
      stats: t.Boolean({ default: true }),
      force: t.Boolean({ default: false, description: 'Replace the branch by what starts elsewhere' }),
    },
    { atMostOne: ['start_branch', 'start_sha'] },
  ),
  gates: [startProject, signedIn, pushes, filledRepository],
  handle: async (ctx) => {
    const { params, right } = ctx
    const sha = await committed(
      commitChanges(ctx, {
        branch: params.branch,
        startBranch: params.start_branch || undefined,
        startSha: params.start_sha || undefined,
        startIn: ctx.startIn,
        force: params.force,
        rewrites: right.rewrites,
        message: params.commit_message,
        author: { name: params.author_name ?? '', email: params.author_email ?? '' },
        changes: await changesOf(params.actions),
        known: knownIn(params.actions),
      }),
    )
    return presentFreshDetail(ctx, sha, params.stats)
  },
  returns: CommitDetail,
  refuses: [noProject, refused('A file with this name already exists')],
})
