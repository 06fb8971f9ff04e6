import { repositoryPath } from '../../src/core/places/projects.ts'
import { gitText } from './git_fixtures.ts'
import type { World } from './world.ts'

/** Commits by repository and content: a scene that is set again for each operation writes the same one. */
const commits = new Map<string, string>()

function commitOf(directory: string, content: string): string {
  const blob = gitText(directory, ['hash-object', '-w', '--stdin'], content)
  const tree = gitText(directory, ['mktree'], `100644 blob ${blob}\t.gitlab-ci.yml\n`)
  return gitText(directory, ['commit-tree', tree, '-m', 'Configure'])
}

/** Puts a branch with nothing but this configuration into a project's repository; its commit. */
export function writeConfig(
  world: World,
  project: { readonly id: number },
  content: string,
  branch = 'ci',
): string {
  const directory = world.opened.instance.git.directory(repositoryPath(project.id))
  const key = `${directory}\0${content}`
  const sha = commits.get(key) ?? commitOf(directory, content)
  commits.set(key, sha)
  gitText(directory, ['update-ref', `refs/heads/${branch}`, sha])
  return sha
}
