import { repositoryPath } from '../../src/core/places/projects.ts'
import { gitText } from './git_fixtures.ts'
import type { World } from './world.ts'

/** Puts a branch with nothing but this configuration into a project's repository; its commit. */
export function writeConfig(
  world: World,
  project: { readonly id: number },
  content: string,
  branch = 'ci',
): string {
  const directory = world.opened.instance.git.directory(repositoryPath(project.id))
  const blob = gitText(directory, ['hash-object', '-w', '--stdin'], content)
  const tree = gitText(directory, ['mktree'], `100644 blob ${blob}\t.gitlab-ci.yml\n`)
  const sha = gitText(directory, ['commit-tree', tree, '-m', 'Configure'])
  gitText(directory, ['update-ref', `refs/heads/${branch}`, sha])
  return sha
}
