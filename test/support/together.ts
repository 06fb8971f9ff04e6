import { after, describe } from 'node:test'

const last: (() => Promise<void>)[] = []

/** Has something done after the last of the files that this process runs. */
export const afterAllFiles = (work: () => Promise<void>): void => void last.push(work)

/**
 * Runs test files one after another in this process, each as a suite of its own: the program is loaded once for all of
 * them. For files that leave nothing behind in the process.
 */
export async function together(files: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  for (const [file, load] of Object.entries(files))
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
