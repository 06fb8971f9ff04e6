import type { Scene } from './scene.ts'
import type { World } from '../support/world.ts'

/** Callers: a user with each level on the group, one with none, an administrator, and an anonymous one. */
export const CALLERS = [
  ...(['none', 'no_access', 'minimal_access', 'guest', 'planner', 'reporter'] as const),
  ...(['developer', 'maintainer', 'owner', 'admin', 'nobody'] as const),
]
export type Caller = (typeof CALLERS)[number]

type Query = Readonly<Record<string, string | string[]>>
type Of<T> = T | ((scene: Scene) => T)

/**
 * How the operations of an area are called with success, and who may: written down from the contract before it is
 * asked of the code. The role matrix and the derived refusals are both made from this.
 */
export interface Calls {
  /** A line for each operation: its name, then a status for each of `CALLERS` where group and project are private. */
  readonly inPrivate: string
  /** Lines that differ where both are public. */
  readonly inPublic?: string
  /** Lines that differ where both are internal. Others: for users as in public, for anonymous callers as in private. */
  readonly inInternal?: string
  /** By operation: every required parameter, valid; or the body as it is. */
  readonly bodies?: Readonly<Record<string, Of<object | string>>>
  /** By operation: headers that every caller sends. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly queries?: Readonly<Record<string, Of<Query>>>
  /**
   * Puts the same records into the scene before an operation, whatever the last call did, and touches nothing that
   * belongs to another scene. Answers what the path's parameters are; `id` is the group or project unless said.
   */
  readonly set?: (world: World, scene: Scene, operation: string) => Promise<Readonly<Record<string, string>>>
  /** Operations that write nothing, whatever their method is. */
  readonly reads?: readonly string[]
  /** State that a refused call must not change beside the database. */
  readonly see?: (world: World, scene: Scene) => Promise<string>
}

export const resolve = <T extends object | string>(value: Of<T> | undefined, scene: Scene): T | undefined =>
  typeof value === 'function' ? value(scene) : value
