import { Type as t, type Static } from 'typebox'
import type { Change } from '../../git/objects/changes.ts'
import { fileContent } from '../../http/params/file_content.ts'
import { badParams } from '../../http/problems.ts'
import { fileText, needs, oneOf } from '../../http/params/schema.ts'

/** One action of a commit, as it is sent. */
export const Action = t.Object(
  {
    action: oneOf(['create', 'update', 'move', 'delete', 'chmod']),
    file_path: t.String({ description: 'The full path of the file; of a move, where it goes' }),
    previous_path: t.Optional(t.String({ description: 'Where a moved file comes from' })),
    content: t.Optional(fileText({ description: 'A moved file without it keeps its content' })),
    encoding: oneOf(['text', 'base64'], { default: 'text' }),
    last_commit_id: t.Optional(
      t.String({ description: 'The last commit of the file that the caller knows of' }),
    ),
    execute_filemode: t.Optional(t.Boolean()),
  },
  needs('action', {
    create: ['content'],
    update: ['content'],
    move: ['previous_path'],
    chmod: ['execute_filemode'],
  }),
)
type Action = Static<typeof Action>

/** The changes of a tree that the actions ask for, their contents decoded one by one. Throws a Problem for what cannot be decoded. */
export async function changesOf(actions: readonly Action[]): Promise<Change[]> {
  const changes: Change[] = []
  for (const [i, action] of actions.entries()) changes.push(await changeOf(action, i))
  return changes
}

async function changeOf(action: Action, i: number): Promise<Change> {
  const path = inTree(action.file_path)
  switch (action.action) {
    case 'create':
    case 'update':
      return { action: action.action, path, content: await contentOf(action, i) }
    case 'move': {
      const keeps = action.content === undefined || action.content === null
      const from = inTree(action.previous_path ?? '')
      return { action: 'move', path, from, ...(!keeps && { content: await contentOf(action, i) }) }
    }
    case 'delete':
      return { action: 'delete', path }
    case 'chmod':
      return { action: 'chmod', path, executable: action.execute_filemode ?? false }
  }
}

/** One leading slash is tolerated, as published. */
const inTree = (path: string): string => path.replace(/^\//, '')

/** The files that the caller knows a last commit of. */
export const knownIn = (actions: readonly Action[]): { path: string; commit: string }[] =>
  actions.flatMap(({ action, file_path, previous_path, last_commit_id: commit }) =>
    action === 'create' || commit === undefined || commit === ''
      ? []
      : [{ path: inTree((action === 'move' && previous_path) || file_path), commit }],
  )

async function contentOf({ content, encoding }: Action, i: number): Promise<Buffer> {
  const bytes = await fileContent(content, encoding)
  if (bytes === undefined) throw badParams([`actions[${i}][content] is invalid`])
  return bytes
}
