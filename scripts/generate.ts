import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { ABOUT } from '../src/areas/about.ts'
import { operations } from '../src/areas/index.ts'
import { accessTable } from '../src/http/documents/access_table.ts'
import { openapi } from '../src/http/documents/openapi.ts'

// Writes the generated documents; with --check only tells whether they are fresh.

const folder = new URL('../docs/generated/', import.meta.url)
const documents: Readonly<Record<string, string>> = {
  'openapi.json': `${JSON.stringify(openapi(operations, 'http://localhost:8080', ABOUT), null, 2)}\n`,
  'access.md': accessTable(operations),
  'areas.md': areaTable(),
}

/** How many operations each area has. */
function areaTable(): string {
  const areas = [...new Set(operations.map(({ area }) => area))].toSorted()
  const countOf = (name: string): number => operations.filter(({ area }) => area === name).length
  const rows = areas.map((area) => [area, String(countOf(area))] as const)
  const width = Math.max(...rows.map(([area]) => area.length))
  const line = (area: string, count: string): string => `| ${area.padEnd(width)} | ${count.padStart(10)} |`
  return [
    '# Operations by area\n',
    `${operations.length} in all.\n`,
    line('Area', 'Operations'),
    `| ${'-'.repeat(width)} | ${'-'.repeat(9)}: |`,
    ...rows.map(([area, count]) => line(area, count)),
    '',
  ].join('\n')
}

const check = process.argv.includes('--check')
await mkdir(folder, { recursive: true })
for (const [name, text] of Object.entries(documents)) {
  const file = new URL(name, folder)
  if (!check) await writeFile(file, text)
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    process.stderr.write(`docs/generated/${name} is stale: run npm run generate\n`)
    process.exitCode = 1
  }
}
