import { join } from 'node:path'
import type { Namespace, Project } from '../../src/db/schema/tables.ts'
import type { Visibility } from '../../src/db/schema/columns.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import { scratch, writeHistory } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import type { Answered, World } from '../support/world.ts'
import { CALLERS, resolve, type Caller } from './calls.ts'
import { callsOf } from './index.ts'

/** A group with a project in it that has a history, and somebody of every kind. */
export interface Scene {
  readonly group: Namespace
  readonly project: Project
  readonly callers: ReadonlyMap<Caller, Someone | undefined>
}

export async function openScene(world: World, visibility: Visibility): Promise<Scene> {
  const { make } = world
  const source = join(scratch(), `${visibility}-${Math.random()}.git`)
  writeHistory(source, 60, 1)
  const group = await make.group({ visibility })
  const project = await make.project({ group, visibility, repository: source })
  const callers = new Map<Caller, Someone | undefined>()
  for (const who of CALLERS) callers.set(who, await someone(world, who, group))
  return { group, project, callers }
}

function someone({ make }: World, who: Caller, group: Namespace): Promise<Someone> | undefined {
  if (who === 'nobody') return undefined
  if (who === 'admin') return make.admin()
  return who === 'none' ? make.user() : make.memberOf(who, { group })
}

export const callerOf = ({ callers }: Scene, who: Caller): Someone => {
  const found = callers.get(who)
  if (found === undefined) throw new Error(`nobody is ${who}`)
  return found
}

/** Path parameters of an operation, once its scene is set. */
export async function setScene(
  world: World,
  scene: Scene,
  op: NamedOperation,
): Promise<Readonly<Record<string, string>>> {
  const ids = [...scene.callers.values()].flatMap((who) => (who ? [who.id] : []))
  // Some operations end the token that they are called with.
  await world.make.sql(
    `update personal_access_tokens set revoked = false, updated_at = created_at
      where revoked and user_id in (${ids.join()})`,
  )
  const parent = /^\/(security\/)?projects\//.test(op.path) ? scene.project : scene.group
  return { id: String(parent.id), ...(await callsOf(op.name).set?.(world, scene, op.name)) }
}

export interface Call {
  readonly as?: Someone | undefined
  readonly path: Readonly<Record<string, string>>
  /** A parameter to leave out. */
  readonly without?: string
}

export const pathOf = ({ path }: NamedOperation, names: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(names[name] ?? '1'))

/** Calls an operation with everything it needs. */
export function callIn(world: World, scene: Scene, op: NamedOperation, call: Call): Promise<Answered> {
  const { bodies, queries, headers } = callsOf(op.name)
  const path = pathOf(op, call.path)
  const given = resolve(bodies?.[op.name], scene)
  const sent = typeof given === 'object' ? ({ ...given } as Record<string, unknown>) : {}
  const query = { ...resolve(queries?.[op.name], scene) }
  if (call.without !== undefined) {
    delete sent[call.without]
    delete query[call.without]
    delete query[`${call.without}[]`]
  }
  return world.call(op.method, path, {
    as: call.as,
    query,
    ...(headers?.[op.name] && { headers: headers[op.name] }),
    ...(typeof given === 'string' && { body: given }),
    ...(op.method !== 'GET' && Object.keys(sent).length > 0 && { body: sent }),
  })
}
