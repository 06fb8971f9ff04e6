import { after, describe } from 'node:test'

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
}
