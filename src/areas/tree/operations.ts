import { Type as t } from 'typebox'
import { code } from '../../access/gates/code_gates.ts'
import type { Entry } from '../../git/objects/tree.ts'
import { createYield } from '../../git/event_loop.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { badParams, notFound, type Problem } from '../../http/problems.ts'

const TreeEntry = t.Object({
  id: t.String(),
  name: t.String(),
  type: t.String(),
  path: t.String(),
  mode: t.String(),
})

const noTree = (): Problem => notFound('Tree')
const noPath = (): Problem => notFound('invalid revision or path')
const badToken = (): Problem => badParams(['page_token is invalid'])

/** The most entries of one directory that are put in order. */
const MAX_SORTED_ENTRIES = 100_000
const KINDS = ['tree', 'blob', 'commit']

export const listTree = operation({
  method: 'GET',
  path: '/projects/:id/repository/tree',
  summary: 'List files and directories',
  published: true,
  first: code,
  params: t.Object({
    path: t.String({ default: '', description: 'The directory; the root when absent' }),
    ref: t.Optional(t.String({ description: 'A branch, a tag or a hash; the default branch when absent' })),
    recursive: t.Boolean({ default: false }),
    page_token: t.Optional(
      t.String({ description: 'Where a page of keyset pagination starts, by the link before' }),
    ),
  }),
  gates: [],
  handle: async ({ repository, project, params, page }) => {
    const head = project.default_branch === null ? 'HEAD' : `refs/heads/${project.default_branch}`
    const sha = await repository.resolve(params.ref || head)
    const commit = sha === undefined ? undefined : await repository.commit(sha)
    if (commit === undefined) throw noTree()
    const keyset = page.cursor !== undefined
    const start = keyset ? readToken(page.cursor || (params.page_token ?? '')) : page.offset
    const list = async (skip: number, limit: number): Promise<Entry[]> => {
      const query = { path: params.path, recursive: params.recursive, skip, limit }
      const found = await repository.entries(commit.tree, query)
      if (found === undefined) throw noPath()
      return found
    }
    // With all below it, a directory can be as large as a repository: its order is that of the walk.
    const all = params.recursive ? undefined : await byKind(await list(0, MAX_SORTED_ENTRIES))
    const items = all ? all.slice(start, start + page.limit) : await list(start, page.limit)
    if (!keyset) return { items, total: all?.length }
    const more = items.length === page.limit && (all === undefined || all.length > start + page.limit)
    return { items, next: more ? String(start + page.limit) : undefined }
  },
  returns: pageOf(TreeEntry, { keyset: true }),
  refuses: [noTree, noPath, badToken],
})

/** Directories first, then files, then submodules, each in git's order. */
async function byKind(entries: readonly Entry[]): Promise<Entry[]> {
  const rest = createYield()
  const kinds = new Map<string, Entry[]>(KINDS.map((kind) => [kind, []]))
  for (const [index, entry] of entries.entries()) {
    kinds.get(entry.type)?.push(entry)
    if (index % 256 === 0) await rest()
  }
  return [...kinds.values()].flat()
}

function readToken(text: string): number {
  if (text === '') return 0
  if (!/^\d{1,9}$/.test(text)) throw badToken()
  return Number(text)
}
