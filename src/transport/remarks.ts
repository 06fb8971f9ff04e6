import type { GitEntry } from '../access/git_access.ts'
import { namedOptions } from '../core/pushes/options.ts'
import type { Instance } from '../instance.ts'

// Remarks that git clients show beside a transfer, in the published words.

type Site = Pick<Instance, 'config'>
type Path = { readonly full_path: string }

const addressOf = ({ config }: Site, { full_path }: Path): string => `${config.url}/${full_path}.git`

/** For a transfer by an address that the project had before; '' for any other. */
export const movedRemark = (site: Site, { moved, project }: GitEntry, place: string): string =>
  moved
    ? `\nProject '${place}' was moved to '${project.full_path}'.\n\nPlease update your Git remote:\n\n` +
      `  git remote set-url origin ${addressOf(site, project)}\n\n`
    : ''

/** For the push that made a project. */
export const madeRemark = (site: Site, project: Path): string =>
  `\nThe private project ${project.full_path} was successfully created.\n\nTo configure the remote, run:\n` +
  `  git remote add origin ${addressOf(site, project)}\n\nTo view the project, visit:\n` +
  `  ${site.config.url}/${project.full_path}\n\n`

/** For push options about merge requests; '' without any. */
export function optionsRemark(
  site: Site,
  project: { readonly id: number },
  options: readonly string[],
): string {
  const { served, unserved } = namedOptions(options)
  const list = `${site.config.url}/api/v4/projects/${project.id}/merge_requests?state=opened`
  return [
    unserved.length === 0
      ? ''
      : `\nWARNINGS:\n\nThe push options ${unserved.join(', ')} are not supported and were passed over.\n\n`,
    served.length === 0 ? '' : `\nThe merge request follows the push options in a moment:\n  ${list}\n\n`,
  ].join('')
}
