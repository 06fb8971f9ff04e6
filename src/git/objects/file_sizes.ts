import { isSha } from '../names.ts'
import type { Spawner } from '../processes/spawner.ts'

export interface FileSize {
  /** Bytes that are no UTF-8 give U+FFFD. */
  readonly path: string
  readonly size: number
}

const LINE = /^(\d+) blob [0-9a-f]+ +(\d+)\t(.*)$/s
const SYMBOLIC_LINK = '120000'

/** Every file of a commit with its size, as git tells them; no links. Throws GitError when git fails. */
export async function* fileSizes(
  spawner: Spawner,
  gitDirectory: string,
  commit: string,
): AsyncGenerator<FileSize> {
  if (!isSha(commit)) throw new TypeError('Files are those of a full hash')
  const output = await spawner.stream(['ls-tree', '-r', '-l', '-z', commit], { gitDirectory, lane: 'slow' })
  let rest = ''
  for await (const bytes of output as AsyncIterable<Buffer>) {
    const lines = (rest + bytes.toString('latin1')).split('\0')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [, mode, size, path = ''] = LINE.exec(line) ?? []
      if (mode === undefined || mode === SYMBOLIC_LINK) continue
      yield { path: Buffer.from(path, 'latin1').toString(), size: Number(size) }
    }
  }
}
