import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

// Writes src/core/values/emoji.txt anew from emojibase-data (MIT licence): a line for each emoji, its name first, then other
// names for it, and a star where it comes in five tones too. Run when the package is newer: `npx tsx scripts/emoji.ts`.

type Names = Readonly<Record<string, string | readonly string[]>>

const { resolve } = createRequire(import.meta.url)
const read = async (set: string): Promise<Names> =>
  JSON.parse(await readFile(resolve(`emojibase-data/en/shortcodes/${set}.json`), 'utf8')) as Names

const sets = await Promise.all(['joypixels', 'github'].map(read))
const byCode = new Map<string, Set<string>>()
for (const set of sets)
  for (const [code, names] of Object.entries(set)) {
    const known = byCode.get(code) ?? new Set()
    byCode.set(code, known)
    for (const name of [names].flat()) known.add(name)
  }

const TONE = /_tone([1-5])$/
const bases = new Set([...byCode.values()].map(([name = '']) => name))
const tones = new Map<string, Set<string>>()
for (const [name = ''] of byCode.values()) {
  const base = name.replace(TONE, '')
  const tone = TONE.exec(name)?.[1]
  if (tone !== undefined && bases.has(base)) tones.set(base, (tones.get(base) ?? new Set()).add(tone))
}
const inTones = new Set([...tones].filter(([, found]) => found.size === 5).map(([base]) => base))

const taken = new Set(bases)
const lines = [...byCode.values()]
  .filter(([name = '']) => !(TONE.test(name) && inTones.has(name.replace(TONE, ''))))
  .map(([name = '', ...others]) => {
    // A name that is another's own stays there.
    const free = others.filter((other) => !taken.has(other))
    for (const other of free) taken.add(other)
    return [name, ...free, ...(inTones.has(name) ? ['*'] : [])].join(' ')
  })
await writeFile(new URL('../src/core/values/emoji.txt', import.meta.url), `${lines.sort().join('\n')}\n`)
