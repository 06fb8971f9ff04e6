import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe } from 'node:test'

const last: (() => Promise<void>)[] = []

/** Has something done after the last of the files that this process runs. */
export const afterAllFiles = (work: () => Promise<void>): void => void last.push(work)

/** Takes a file for this process; false where another has. */
function take(taken: string, file: string): boolean {
  try {
    mkdirSync(join(taken, file.replaceAll('/', '-')))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/**
 * Runs test files one after another in this process, each as a suite of its own, and leaves out those that another
 * process took before: the program is loaded once for all of them. For files that leave nothing behind in the process.
 */
export async function together(
  taken: string,
  files: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<void> {
  for (const [file, load] of Object.entries(files))
    if (take(taken, file))
      await new Promise<void>((resolve) => {
        void describe(file, async () => {
          after(() => resolve())
          try {
            await load()
          } catch (error) {
            resolve()
            throw error
          }
        })
      })
  // A suite too, because suites wait for what closes those before them.
  void describe('after all files', () => {
    after(async () => void (await Promise.all(last.map((work) => work()))))
  })
}
