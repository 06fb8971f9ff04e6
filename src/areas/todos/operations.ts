import { existing } from '../../db/rows.ts'
import { Type as t, type Static } from 'typebox'
import { NOTE_BASES, noteable, onEach } from '../../access/noteable_routes.ts'
import { signedIn } from '../../access/gates/gates.ts'
import { addTodos } from '../../core/conversation/todos.ts'
import { loads, type Actor, type Has } from '../../http/gate.ts'
import { Answer, nothing, operation, pageOf, type AnyOperation } from '../../http/operation.ts'
import { oneOf } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { presentIssue } from '../../records/planning/issue.ts'
import { presentMergeRequest } from '../../records/merge_requests/merge_request.ts'
import { Todo, presentTodo, type TodoShown } from './entity.ts'
import * as todos from './store.ts'

const ONE = { limit: 1, offset: 0 }

/** Reminders with the records they are about. */
async function present(
  site: Pick<Instance, 'db' | 'config'> & { readonly actor: Actor },
  rows: readonly TodoShown[],
): Promise<Static<typeof Todo>[]> {
  const idsOf = (kind: TodoShown['kind']): number[] =>
    rows.filter((row) => row.kind === kind).map((row) => row.noteable_id)
  const issues = await todos.issuesOf(site.db, site.actor, idsOf('issue'))
  const requests = await todos.mergeRequestsOf(site.db, idsOf('merge_request'))
  const targets = new Map<number, object>([
    ...issues.map((row) => [row.id, presentIssue(row, site)] as const),
    ...requests.map((row) => [row.id, presentMergeRequest(row, site)] as const),
  ])
  return rows.map((row) => presentTodo(row, targets, site))
}

const TYPES = { Issue: 'issue', MergeRequest: 'merge_request', Epic: 'epic' } as const
const typed = (type: string): string =>
  Object.hasOwn(TYPES, type) ? TYPES[type as keyof typeof TYPES] : type

const listTodos = operation({
  method: 'GET',
  path: '/todos',
  summary: 'List the to-do items of the caller',
  published: true,
  first: [signedIn],
  params: t.Object({
    action: t.Optional(
      oneOf([
        ...(['assigned', 'mentioned', 'build_failed', 'marked', 'approval_required'] as const),
        ...(['unmergeable', 'directly_addressed', 'merge_train_removed', 'member_access_requested'] as const),
        'review_requested',
      ]),
    ),
    author_id: t.Optional(t.Integer()),
    project_id: t.Optional(t.Integer()),
    group_id: t.Optional(t.Integer()),
    state: t.Optional(oneOf(['pending', 'done'])),
    type: t.Optional(
      oneOf([
        ...(['Issue', 'WorkItem', 'MergeRequest', 'Commit', 'Epic', 'DesignManagement::Design'] as const),
        ...(['AlertManagement::Alert', 'Project', 'Namespace', 'Vulnerability', 'WikiPage::Meta'] as const),
      ]),
    ),
  }),
  gates: [],
  handle: async (ctx) => {
    const { db, actor, params, page } = ctx
    const { action, author_id, project_id, group_id, state, type } = params
    const filter = {
      ...(action !== undefined && { action }),
      ...(author_id !== undefined && { author: author_id }),
      ...(project_id !== undefined && { project: project_id }),
      ...(group_id !== undefined && { group: group_id }),
      ...(state !== undefined && { state }),
      ...(type !== undefined && { type: typed(type) }),
    }
    const { items, total } = await todos.listTodos(db, actor, filter, {
      ...page,
    })
    return { items: await present(ctx, items), total }
  },
  returns: pageOf(Todo),
})

const todo = loads({
  param: 'id',
  type: t.Integer(),
  as: 'todo',
  says: 'a to-do item of the caller',
  find: async ({ db, actor }: Has<{ actor: Actor }>, id) =>
    (await todos.listTodos(db, actor, { id }, ONE)).items[0],
})

const markTodoDone = operation({
  method: 'POST',
  path: '/todos/:id/mark_as_done',
  summary: 'Mark a to-do item as done',
  published: true,
  first: [signedIn],
  gates: [todo],
  handle: async (ctx) => {
    const { db, actor, todo } = ctx
    await todos.finishFor(db, actor.id, todo.id)
    return existing((await present(ctx, [{ ...todo, state: 'done' }]))[0])
  },
  returns: Todo,
})

const markTodosDone = operation({
  method: 'POST',
  path: '/todos/mark_as_done',
  summary: 'Mark all to-do items as done',
  published: true,
  first: [signedIn],
  gates: [],
  handle: async ({ db, actor }) => {
    await todos.finishFor(db, actor.id, null)
    return null
  },
  returns: nothing,
})

const create = operation({
  method: 'POST',
  path: '/todo',
  summary: 'Create a to-do item for #',
  published: true,
  first: [signedIn],
  gates: [noteable],
  handle: async (ctx) => {
    const { db, actor, noteable } = ctx
    const { id: noteable_id, project_id } = noteable
    const [id] = await addTodos(db, [actor.id], {
      noteable_id,
      project_id,
      group_id: noteable.group_id,
      note_id: null,
      author_id: actor.id,
      action: 'marked',
    })
    if (id === undefined) return new Answer(304)
    return existing((await present(ctx, (await todos.listTodos(db, actor, { id }, ONE)).items))[0])
  },
  returns: Todo,
  also: { 304: null },
})

/** The operations of reminders; issues and merge requests have one each that makes them. */
export const todoOperations: Readonly<Record<string, AnyOperation>> = {
  listTodos,
  markTodoDone,
  markTodosDone,
  ...onEach(
    NOTE_BASES.filter(({ kind }) => kind === 'issue' || kind === 'merge_request'),
    { 'create#Todo': create },
  ),
}
