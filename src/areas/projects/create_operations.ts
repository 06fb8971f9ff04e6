import { Type as t } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { createPendingProject } from '../../core/pushes/import_job.ts'
import { createWithRepository } from '../../core/pushes/import.ts'
import { isBranchName } from '../../core/pushes/commit_writing.ts'
import { settingsOf } from '../../core/places/group_settings.ts'
import { ForbiddenAddress, outboundAddress } from '../../core/settings/outbound.ts'
import type { NewProject } from '../../core/places/projects.ts'
import { violates } from '../../db/errors.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { invalid, type Problem } from '../../http/problems.ts'
import { Project, presentRecord } from '../../records/places/full_project.ts'
import type { Static } from 'typebox'
import { branchIn, fields, settle } from './fields.ts'
import { TAKEN, isTaken, user } from './gates.ts'
import { findTargetNamespace, personalNamespace, limitFault } from '../../core/places/target_namespace.ts'
import { recordFor } from './record_store.ts'
import {
  bounded,
  faultsOf,
  limitText,
  mayFill,
  nameBoth,
  visibilityFaults,
  type TargetNamespace,
} from '../../core/places/project_rules.ts'
import { takenBy } from './store.ts'

const params = t.Object(
  {
    ...fields,
    namespace_id: t.Optional(
      t.Integer({ description: 'A group or a personal namespace; without it, the caller’s own' }),
    ),
    initialize_with_readme: t.Boolean({ default: false }),
    import_url: t.Optional(
      t.String({ maxLength: 4_000, description: 'A repository to copy; the answer does not wait for it' }),
    ),
  },
  { atLeastOne: ['name', 'path'] },
)
type Params = Static<typeof params>

const limitReached = (text: string): Problem => invalid({ limit_reached: [text] })
const badNamespace = (): Problem => invalid({ namespace: ['is not valid'] })

type Ctx = Has<{ actor: Actor; params: Params }>
type New = Omit<NewProject, 'id' | 'default_branch' | 'empty_repo'>

/** Makes a project and answers with it. No transaction is open: repositories come first, and rows when they stand. */
async function make(
  ctx: Ctx,
  home: TargetNamespace | undefined,
  creator: number,
): Promise<Static<typeof Project>> {
  const { db, actor } = ctx
  if (home === undefined || !mayFill(actor, home)) throw badNamespace()
  const wanted = { ...newProject(ctx, home), creator_id: creator }
  const limited = await limitFault(db, home)
  if (limited !== undefined) throw limitReached(limited)
  const place = { namespace_id: home.id, name: wanted.name, full_path: `${home.full_path}/${wanted.path}` }
  // Asked before anything is written, and again by the database when another was quicker.
  await refuseTaken(ctx, place)
  const row = await begin(ctx, home, wanted).catch(async (error: unknown) => {
    if (violates(error, 'projects_limit')) throw limitReached((await limitFault(db, home)) ?? limitText(0))
    if (!isTaken(error)) throw error
    await refuseTaken(ctx, place)
    throw invalid({ path: TAKEN })
  })
  return presentRecord(await recordFor(db, actor, row.id), ctx, { signedIn: true, admin: actor.admin })
}

function newProject({ settings, params }: Ctx, home: TargetNamespace): Omit<New, 'creator_id'> {
  const named = nameBoth(params)
  const standing = settings.get('default_project_visibility')
  const visibility = params.visibility ?? bounded(home, standing)
  const branch = branchIn(params)
  const faults = {
    ...faultsOf({ ...named, description: params.description }),
    ...visibilityFaults(home, visibility),
    ...(branch !== undefined && !isBranchName(branch) && { default_branch: ['is invalid'] }),
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  const set = settle(params)
  return {
    ...named,
    namespace: home,
    visibility,
    description: params.description || null,
    topics: set.topics ?? [],
    settings: set.settings,
    repository_access_level: set.repository_access_level ?? 'enabled',
  }
}

async function refuseTaken({ db }: Ctx, place: Parameters<typeof takenBy>[2]): Promise<void> {
  const taken = await takenBy(db, 0, place)
  if (taken.name || taken.path)
    throw invalid({ ...(taken.name && { name: TAKEN }), ...(taken.path && { path: TAKEN }) })
}

/** The default branch name of a group, where it is set and valid. */
function branchOf(home: TargetNamespace): string | undefined {
  const { default_branch: name } = settingsOf(home)
  return name !== null && isBranchName(name) ? name : undefined
}

async function begin(ctx: Ctx, home: TargetNamespace, wanted: New): Promise<{ id: number }> {
  const { actor, params } = ctx
  if (params.import_url) {
    await checkAddress(ctx, params.import_url)
    return createPendingProject(ctx, wanted, { kind: 'url', url: params.import_url })
  }
  const text = `# ${wanted.name}\n${wanted.description ? `\n${wanted.description}\n` : ''}`
  const branch = branchIn(params) ?? branchOf(home)
  return createWithRepository(ctx, wanted, {
    ...(branch !== undefined && { defaultBranch: branch }),
    ...(params.initialize_with_readme && { readme: { text, by: actor } }),
  })
}

/** Looked at here for the caller's sake; the job looks again and connects to what it saw. */
async function checkAddress({ settings }: Ctx, address: string): Promise<void> {
  const blocked = (why: string): Problem => invalid({ import_url: [`is blocked: ${why}`] })
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined) throw blocked('URI is invalid')
  if (!/^(https?|git):$/.test(url.protocol) || url.hostname === '')
    throw blocked('Only allowed schemes are http, https, git')
  await outboundAddress(settings, url).catch((error: unknown) => {
    throw error instanceof ForbiddenAddress ? blocked(error.message) : error
  })
}

export const createProject = operation({
  method: 'POST',
  path: '/projects',
  summary: 'Create a project: empty, with a first commit, or to be imported',
  published: true,
  moves: 'refs',
  first: [signedIn],
  params,
  gates: [signedIn],
  handle: async (ctx) => {
    const { db, actor, params } = ctx
    const home = await (params.namespace_id === undefined
      ? personalNamespace(db, actor, actor.id)
      : findTargetNamespace(db, actor, params.namespace_id))
    return make(ctx, home, actor.id)
  },
  returns: Project,
  refuses: [badNamespace, limitReached(limitText(1)), invalid({ name: TAKEN, path: TAKEN })],
})

export const createUserProject = operation({
  method: 'POST',
  path: '/projects/user/:user_id',
  summary: 'Create a project in the personal namespace of a user',
  published: true,
  moves: 'refs',
  first: [signedIn, administrator],
  params,
  gates: [signedIn, user],
  handle: async (ctx) => make(ctx, await personalNamespace(ctx.db, ctx.actor, ctx.owner.id), ctx.owner.id),
  returns: Project,
  refuses: [limitReached(limitText(1)), invalid({ name: TAKEN, path: TAKEN })],
})
