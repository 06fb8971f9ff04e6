import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe } from 'node:test'

const last: (() => Promise<void>)[] = []

/** Has something done after the last of the files that this process runs. */
export const afterAllFiles = (work: () => Promise<void>): void => void last.push(work)

/** CPU seconds of this process and, on Linux, of the child processes that it has waited for. */
function spent(): readonly [own: number, children: number] {
  const { user, system } = process.cpuUsage()
  let children = 0
  if (process.platform === 'linux') {
    // Fields 16 and 17 of proc(5), in hundredths of a second; the second field may hold blanks.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    children = (Number(fields[13]) + Number(fields[14])) / 100
  }
  return [(user + system) / 1e6, children]
}

/** Measures a file for `TEST_COSTS`: appends time of the end, process, wall and CPU seconds, separated by tabs. */
function startMeter(file: string): () => void {
  const to = process.env['TEST_COSTS']
  if (to === undefined) return () => {}
  const [began, before] = [performance.now(), spent()]
  return () => {
    const wall = (performance.now() - began) / 1_000
    const costs = spent().map((seconds, at) => (seconds - (before[at] ?? 0)).toFixed(2))
    appendFileSync(to, `${[Date.now(), process.pid, wall.toFixed(2), ...costs, file].join('\t')}\n`)
  }
}

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
          const measured = startMeter(file)
          after(() => {
            measured()
            resolve()
          })
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
