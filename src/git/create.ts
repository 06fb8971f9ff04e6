import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { GitError } from './errors.ts'
import { fsckSettings } from './fsck.ts'
import type { Git } from './git.ts'
import { isRefName } from './names.ts'
import { isRepository } from './repository.ts'

/**
 * Creates an empty repository at `target` whose HEAD names `defaultBranch`. Throws GitError `refused` when something is
 * at `target`, TypeError when `defaultBranch` is no branch name or `target` no repository path.
 */
export async function createEmpty(git: Git, target: string, defaultBranch: string): Promise<void> {
  if (!isRefName(defaultBranch)) throw new TypeError('Not the name of a branch')
  await buildRepository(git, target, () => Promise.resolve({ head: defaultBranch }))
}

/**
 * Makes a repository under a temporary name beside `target`, lets `fill` put objects and refs into it and say which
 * branch HEAD names, and renames it to `target` when all is on disk. After a failure nothing is left.
 */
export async function buildRepository(
  git: Git,
  target: string,
  fill: (gitDirectory: string) => Promise<{ head: string }>,
): Promise<void> {
  const final = git.directory(target)
  if (await isRepository(final)) throw new GitError('refused', 'There is a repository already')
  const parent = dirname(final)
  // A dot keeps it out of reach of repository(), and tells a janitor what it is.
  const temporary = join(parent, `.new-${randomBytes(8).toString('hex')}`)
  await mkdir(parent, { recursive: true })
  try {
    await makeSkeleton(temporary)
    const { head } = await fill(temporary)
    await writeDurably(join(temporary, 'HEAD'), `ref: refs/heads/${head}\n`)
    await syncDirectory(temporary)
    await moveIntoPlace(temporary, final)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true, maxRetries: 3 })
    throw error
  }
  git.forget(target)
}

/** Written by us and not by `git init`: no template, no hooks directory, and the same configuration for every repository. */
async function makeSkeleton(directory: string): Promise<void> {
  for (const part of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    await mkdir(join(directory, part), { recursive: true, mode: 0o750 })
  }
  await writeDurably(join(directory, 'HEAD'), 'ref: refs/heads/main\n')
  await writeDurably(join(directory, 'config'), configuration())
}

function configuration(): string {
  const settings = [
    'core.repositoryformatversion=0',
    'core.filemode=true',
    'core.bare=true',
    'core.logAllRefUpdates=false',
    'core.fsync=committed,reference',
    'core.hooksPath=/dev/null',
    'gc.auto=0',
    'maintenance.auto=false',
    'transfer.fsckObjects=true',
    'receive.autogc=false',
    ...fsckSettings('receive'),
  ]
  return settings.map(configurationLine).join('')
}

// `[a] b = c` and `[a "b"] c = d` on a line each: git joins sections of the same name.
function configurationLine(setting: string): string {
  const [name = '', value = ''] = setting.split('=')
  const [section = '', ...rest] = name.split('.')
  const subsection = rest.length === 2 ? ` "${rest[0]}"` : ''
  return `[${section}${subsection}]\n\t${rest.at(-1)} = ${value}\n`
}

async function moveIntoPlace(temporary: string, final: string): Promise<void> {
  try {
    // Onto an existing directory that is not empty this fails, so of two who build the same one only one succeeds.
    await rename(temporary, final)
  } catch (error) {
    throw new GitError('refused', 'The place of the new repository is taken', { cause: error })
  }
  await syncDirectory(dirname(final))
}

async function writeDurably(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flush: true })
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
