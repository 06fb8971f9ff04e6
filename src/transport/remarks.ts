import type { GitEntry } from '../access/git_access.ts'
import { optionFaults } from '../core/pushes/option_faults.ts'
import { mergeRequestNames, unservedOptions } from '../core/pushes/options.ts'
import type { PushRequest } from '../git/wire/push_request.ts'
import type { Actor } from '../http/gate.ts'
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

/** For push options: which mean nothing here, which will be refused, and where to look at what the others do. */
export async function optionsRemark(
  instance: Instance,
  { project, actor }: { readonly project: { readonly id: number }; readonly actor: Actor },
  { options, commands }: PushRequest,
): Promise<string> {
  const [unserved, about] = [unservedOptions(options), mergeRequestNames(options)]
  const branches = commands.filter(({ ref, to }) => ref.startsWith('refs/heads/') && to !== undefined).length
  const faults = await optionFaults(instance, { project, actor, options, branches })
  const warnings = [
    ...(unserved.length === 0
      ? []
      : [`The push options ${unserved.join(', ')} are not supported and were passed over.`]),
    ...faults.map((fault) => `Error encountered with push options: ${fault}`),
  ]
  const list = `${instance.config.url}/api/v4/projects/${project.id}/merge_requests?state=opened`
  return [
    warnings.length === 0 ? '' : `\nWARNINGS:\n\n${warnings.join('\n')}\n\n`,
    about.length === 0 || faults.length > 0
      ? ''
      : `\nThe merge request follows the push options in a moment:\n  ${list}\n\n`,
  ].join('')
}
