import { after, describe } from 'node:test'

/**
 * Runs test files one after another in this process, each as a suite of its own: the program is loaded once for all of
 * them. For files that leave nothing behind in the process.
 */
export async function together(files: readonly string[]): Promise<void> {
  for (const file of files)
    await new Promise<void>((resolve) => {
      void describe(file, async () => {
        after(() => resolve())
        try {
          await import(new URL(`../../${file}`, import.meta.url).href)
        } catch (error) {
          resolve()
          throw error
        }
      })
    })
}
