import { repositoryPath } from '../../src/core/places/projects.ts'
import { gitText } from './git_fixtures.ts'
import type { World } from './world.ts'

/** Commits by repository and content: a scene that is set again for each operation writes the same one. */
const commits = new Map<string, string>()

type Files = Readonly<Record<string, string>>

function commitOf(directory: string, files: Files): string {
  const lines = Object.entries(files).map(
    ([name, text]) => `100644 blob ${gitText(directory, ['hash-object', '-w', '--stdin'], text)}\t${name}\n`,
  )
  const tree = gitText(directory, ['mktree'], lines.join(''))
  return gitText(directory, ['commit-tree', tree, '-m', 'Configure'])
}

/** Puts a branch with nothing but this configuration into a project's repository; its commit. */
export const writeConfig = (
  world: World,
  project: { readonly id: number },
  content: string,
  branch = 'ci',
): string => writeFiles(world, project, { '.gitlab-ci.yml': content }, branch)

/** The same with these files of its root. */
export function writeFiles(
  world: World,
  project: { readonly id: number },
  files: Files,
  branch: string,
): string {
  const directory = world.opened.instance.git.directory(repositoryPath(project.id))
  const key = `${directory}\0${JSON.stringify(files)}`
  const sha = commits.get(key) ?? commitOf(directory, files)
  commits.set(key, sha)
  gitText(directory, ['update-ref', `refs/heads/${branch}`, sha])
  return sha
}
