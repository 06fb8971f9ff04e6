import { Type as t } from 'typebox'
import { invalid, type Problem } from '../../http/problems.ts'
import { listOf, oneOf } from '../../http/params/schema.ts'

export const TOKEN_PREFIX = 'glrt-'
export const TYPES = ['instance_type', 'group_type', 'project_type'] as const

/** Fields of a runner that callers set. */
export const fields = {
  description: t.Optional(t.String({ maxLength: 1_024 })),
  maintenance_note: t.Optional(t.String({ maxLength: 1_024 })),
  paused: t.Optional(t.Boolean()),
  locked: t.Optional(t.Boolean()),
  run_untagged: t.Optional(t.Boolean()),
  tag_list: t.Optional(listOf(t.String({ maxLength: 255 }))),
  access_level: t.Optional(oneOf(['not_protected', 'ref_protected'])),
  maximum_timeout: t.Optional(t.Integer({ minimum: 600, description: 'Seconds' })),
}

interface GivenRunner {
  readonly description?: string
  readonly maintenance_note?: string
  readonly paused?: boolean
  readonly active?: boolean
  readonly locked?: boolean
  readonly run_untagged?: boolean
  readonly tag_list?: readonly string[]
  readonly access_level?: 'not_protected' | 'ref_protected'
  readonly maximum_timeout?: number
}

/** Columns of a new runner. */
interface KeptRunner {
  readonly description: string | null
  readonly maintenance_note: string | null
  readonly paused: boolean
  readonly locked: boolean
  readonly run_untagged: boolean
  readonly tag_list: string[]
  readonly access_level: 'not_protected' | 'ref_protected'
  readonly maximum_timeout: number | null
}

export const noTags = (): Problem =>
  invalid({ tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] })

/** Each tag once, in order, without blanks around it. */
export const tagsOf = (given: readonly string[]): string[] =>
  [...new Set(given.map((tag) => tag.trim()).filter((tag) => tag !== ''))].toSorted()

/** Throws 400 for a runner that could take no job. */
export function checkTags({ run_untagged, tag_list }: Pick<KeptRunner, 'run_untagged' | 'tag_list'>): void {
  if (!run_untagged && tag_list.length === 0) throw noTags()
}

export function newRunnerOf(given: GivenRunner): KeptRunner {
  const kept: KeptRunner = {
    description: given.description ?? null,
    maintenance_note: given.maintenance_note ?? null,
    paused: given.paused ?? (given.active === undefined ? false : !given.active),
    locked: given.locked ?? false,
    run_untagged: given.run_untagged ?? true,
    tag_list: tagsOf(given.tag_list ?? []),
    access_level: given.access_level ?? 'not_protected',
    maximum_timeout: given.maximum_timeout ?? null,
  }
  checkTags(kept)
  return kept
}
