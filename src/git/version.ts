import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const LEAST = [2, 38] as const

/** Throws, in words for an operator, when there is no git in `path` or one that is too old. */
export async function checkGit(path: string): Promise<void> {
  const { stdout } = await promisify(execFile)('git', ['--version'], { env: { PATH: path } }).catch(
    (error: NodeJS.ErrnoException) => {
      const text = error.code === 'ENOENT' ? `there is none in PATH (${path})` : error.message
      throw new Error(`git ${LEAST.join('.')} or newer is needed: ${text}`, { cause: error })
    },
  )
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number)
  if (major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1]))
    throw new Error(`git ${LEAST.join('.')} or newer is needed: the one in PATH is ${stdout.trim()}`)
}
