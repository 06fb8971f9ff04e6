import type { Project } from '../../core/places/projects.ts'
import { conflict, type Problem } from '../../http/problems.ts'

interface Merged {
  readonly iid: number
  readonly title: string
  readonly source_branch: string
  readonly target_branch: string
}

/** The default message of a merge commit. */
export function mergeMessage(
  { iid, title, source_branch, target_branch }: Merged,
  project: Pick<Project, 'full_path'>,
  closes: readonly number[],
): string {
  const closing = closes.map((one) => `#${one}`)
  const issues =
    closing.length === 0
      ? []
      : [`Closes ${[closing.slice(0, -1).join(', '), closing.at(-1)].filter(Boolean).join(' and ')}`]
  return [
    `Merge branch '${source_branch}' into '${target_branch}'`,
    title,
    ...issues,
    `See merge request ${project.full_path}!${iid}`,
  ].join('\n\n')
}

type MergeMethod = 'merge' | 'rebase_merge' | 'ff'

/** How the project merges. */
export const methodOf = ({ settings }: Pick<Project, 'settings'>): MergeMethod => {
  const method = settings['merge_method']
  return method === 'ff' || method === 'rebase_merge' ? method : 'merge'
}

/** Whether the project squashes: always, never, or as the caller wishes. */
export function squashes({ settings }: Pick<Project, 'settings'>, wanted: boolean): boolean {
  const option = settings['squash_option']
  return option === 'always' || (option !== 'never' && wanted)
}

export const otherHead = (head: string): Problem =>
  conflict(`SHA does not match HEAD of source branch: ${head}`)
