import { readFileSync } from 'node:fs'
import { PACKAGE_ROOT } from '../../package_root.ts'

// Written by scripts/emoji.ts; beside the sources, wherever the program is built to.
const names = new URL('src/core/values/emoji.txt', PACKAGE_ROOT)
const TONE = /_tone[1-5]$/

interface Known {
  readonly canonical: ReadonlyMap<string, string>
  readonly inTones: ReadonlySet<string>
}
let known: Known | undefined

function load(): Known {
  const canonical = new Map<string, string>()
  const inTones = new Set<string>()
  for (const line of readFileSync(names, 'utf8').trimEnd().split('\n')) {
    const [name = '', ...others] = line.split(' ')
    canonical.set(name, name)
    for (const other of others)
      if (other === '*') inTones.add(name)
      else canonical.set(other, name)
  }
  return { canonical, inTones }
}

/** The name under which an emoji is kept, of whatever it is called by: `thumbsup` for `+1`; undefined for none. */
export function emojiName(given: string): string | undefined {
  known ??= load()
  const { canonical, inTones } = known
  const whole = canonical.get(given)
  const tone = TONE.exec(given)?.[0]
  if (whole !== undefined || tone === undefined) return whole
  const base = canonical.get(given.slice(0, -tone.length))
  return base !== undefined && inTones.has(base) ? base + tone : undefined
}
