import { limitOf } from '../../core/settings/plan_limits.ts'
import { violates } from '../../db/errors.ts'
import type { Listed } from '../../db/pages.ts'
import type { CiVariable } from '../../db/schema/ci_variables.ts'
import type { Context } from '../../http/gate.ts'
import { conflict, invalid, type Problem } from '../../http/problems.ts'
import type { PageRequest } from '../../http/operation.ts'
import { variableFaults } from './rules.ts'
import * as variables from './store.ts'
import type { Owner } from './store.ts'

// Rules that variables of projects, groups and the instance share.

/** The fields of a variable that callers write. */
export interface Given {
  readonly key?: string
  readonly value?: string
  readonly variable_type?: 'env_var' | 'file'
  readonly protected?: boolean
  readonly masked?: boolean
  readonly masked_and_hidden?: boolean
  readonly raw?: boolean
  readonly environment_scope?: string
  readonly description?: string | null
}

export const ambiguous = (): Problem =>
  conflict("There are multiple variables with provided parameters. Please use 'filter[environment_scope]'")
export const taken = (key = 'KEY'): Problem => invalid({ key: [`(${key}) has already been taken`] })
const stillHidden = (): Problem =>
  invalid({ masked: ['cannot be changed: the value of a hidden variable stays masked'] })
const tooMany = (limit: number): Problem =>
  invalid({ base: [`Maximum number of ci instance level variables (${limit}) exceeded`] })

export const list = (
  { db, page }: Context & { readonly page: PageRequest },
  owner: Owner,
): Promise<Listed<CiVariable>> => variables.list(db, owner, page)

/** The one variable of the key; undefined for none. Throws 409 where it has several scopes and none is given. */
export async function find(
  { db }: Context,
  owner: Owner,
  { key, scope }: { readonly key: string; readonly scope: string | undefined },
): Promise<CiVariable | undefined> {
  const [variable, another] = await variables.find(db, owner, key, scope ?? null)
  if (another !== undefined) throw ambiguous()
  return variable
}

type Kept = variables.Kept & { readonly value: string }

/** The variable as it will be kept, what is not given as it was. Throws 400 for what cannot be. */
function settle({ vault }: Context, given: Given, before: CiVariable | null): variables.Kept {
  const hidden = before?.hidden ?? given.masked_and_hidden === true
  if (before?.hidden === true && given.masked === false) throw stillHidden()
  const value = given.value ?? (before ? vault.open(before.sealed_value) : '')
  const kept: Kept = {
    key: before?.key ?? given.key ?? '',
    value,
    sealed_value: given.value === undefined && before ? before.sealed_value : vault.seal(value),
    variable_type: given.variable_type ?? before?.variable_type ?? 'env_var',
    protected: given.protected ?? before?.protected ?? false,
    masked: hidden || (given.masked ?? before?.masked ?? false),
    hidden,
    raw: given.raw ?? before?.raw ?? false,
    environment_scope: (given.environment_scope ?? before?.environment_scope ?? '*').trim(),
    description: given.description === undefined ? (before?.description ?? null) : given.description,
  }
  const faults = variableFaults(kept)
  if (Object.keys(faults).length > 0) throw invalid(faults)
  const { value: _value, ...row } = kept
  return row
}

const orTaken =
  (owner: Owner, key: string) =>
  (error: unknown): never => {
    throw violates(error, `ci_variables_of_${owner.of}`) ? taken(key) : error
  }

export async function create(ctx: Context, owner: Owner, given: Given): Promise<CiVariable> {
  const kept = settle(ctx, given, null)
  if (owner.of === 'instance') {
    const limit = await limitOf(ctx.db, { traversal_ids: [] }, 'ci_instance_level_variables')
    if ((await variables.lockAndCount(ctx.db)) >= limit) throw tooMany(limit)
  }
  return variables.insert(ctx.db, owner, kept).catch(orTaken(owner, kept.key))
}

export async function change(
  ctx: Context & { readonly variable: CiVariable },
  owner: Owner,
  given: Given,
): Promise<CiVariable> {
  const kept = settle(ctx, given, ctx.variable)
  return variables.update(ctx.db, ctx.variable.id, kept).catch(orTaken(owner, kept.key))
}

export const remove = ({ db, variable }: Context & { readonly variable: CiVariable }): Promise<void> =>
  variables.remove(db, variable.id)
