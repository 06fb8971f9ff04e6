import { readFileSync, readdirSync } from 'node:fs'

/** The processes below one: its children, theirs, and so on. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map(
    readdirSync('/proc').flatMap((name): [number, number][] => {
      const parent = /^\d+$/.test(name) ? parentOf(name) : undefined
      return parent === undefined ? [] : [[Number(name), parent]]
    }),
  )
  const found = new Set([pid])
  for (let before = 0; before !== found.size;) {
    before = found.size
    for (const [child, parent] of parents) if (found.has(parent)) found.add(child)
  }
  found.delete(pid)
  return [...found]
}

/** Undefined when it is gone. The second field of `stat`, a program's name in brackets, may hold blanks. */
export function parentOf(pid: number | string): number | undefined {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

/** The name of a process's program, undefined when it is gone. */
export function programOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return undefined
  }
}
