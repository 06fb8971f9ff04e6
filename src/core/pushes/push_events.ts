import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import type { RefMove } from '../../git/refs/refs.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import type { OutboxEvent } from '../../outbox/record.ts'
import { repositoryPath } from '../places/projects.ts'
import type { UndeliveredPush } from './undelivered_pushes.ts'

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'
/** Branches, and tags, of one push that get an event each; more become one event, and no webhook fires, as published. */
const MAX_REFS = 3
/** Commits of a push that are counted. */
const MAX_COMMITS = 1_000
const MAX_TITLE = 70

/** Data of the event of a moved ref. */
export interface PushData {
  readonly ref: string
  readonly before: string | null
  readonly after: string | null
  readonly commit_count: number
  readonly commit_title: string | null
  /** Of a push of many refs, which is one event. */
  readonly ref_count: number | null
}

const defaultBranch = statement(
  (p: Slots<{ id: number }>) => sql<{ name: string | null }>`
    select default_branch as name from projects where id = ${p.id}`,
)

/** The events of the branches and tags that a push moved. */
export async function pushEvents(
  { db, git }: Pick<Instance, 'db' | 'git'>,
  { project_id, user_id, moves }: UndeliveredPush,
): Promise<OutboxEvent[]> {
  const repository = git.repository(repositoryPath(project_id))
  const of = { author_id: user_id, project_id }
  const events: OutboxEvent[] = []
  for (const [kind, prefix] of [
    ['push', HEADS],
    ['tag_push', TAGS],
  ] as const) {
    const moved = moves.filter(({ ref }) => ref.startsWith(prefix))
    const [first] = moved
    if (first === undefined) continue
    const isBulk = moved.length > MAX_REFS
    const beside = moved.some(({ from }) => from === undefined)
      ? ((await db.one(defaultBranch, { id: project_id }))?.name ?? null)
      : null
    for (const move of isBulk ? [first] : moved)
      events.push({
        ...of,
        kind,
        action: actionOf(move),
        activity: 'pushed',
        ...(!isBulk && { trigger: `${kind}_events` }),
        data: {
          ...(await dataOf(repository, move, beside)),
          ref_count: isBulk ? moved.length : null,
        },
      })
  }
  const changes = moves
    .filter(({ ref }) => ref.startsWith(HEADS) || ref.startsWith(TAGS))
    .map(({ ref, from, to }) => ({ ref, before: from ?? null, after: to ?? null }))
  if (changes.length > 0)
    events.push({
      ...of,
      kind: 'repository_update',
      action: 'update',
      trigger: 'repository_update_events',
      data: { changes: changes.slice(0, 100) },
    })
  return events
}

const actionOf = ({ from, to }: RefMove): string =>
  from === undefined ? 'created' : to === undefined ? 'removed' : 'pushed'

async function dataOf(
  repository: Repository,
  { ref, from, to }: RefMove,
  beside: string | null,
): Promise<Omit<PushData, 'ref_count'>> {
  const kept = { ref, before: from ?? null, after: to ?? null }
  const commit = to === undefined || ref.startsWith(TAGS) ? undefined : await repository.commit(to)
  if (to === undefined || commit === undefined) return { ...kept, commit_count: 0, commit_title: null }
  const title = commit.message.trimStart().split('\n', 1)[0]?.slice(0, MAX_TITLE) ?? ''
  if (commit.parents.length === 1 && commit.parents[0] === from)
    return { ...kept, commit_count: 1, commit_title: title }
  const name = beside === null || HEADS + beside === ref ? undefined : HEADS + beside
  const known = from ?? (name === undefined ? undefined : await repository.ref(name))
  const isKnown = known !== undefined && (await repository.commit(known)) !== undefined
  const shas = await repository.log({
    from: [to],
    ...(isKnown && { exclude: [known] }),
    skip: 0,
    limit: MAX_COMMITS,
  })
  return { ...kept, commit_count: shas.length, commit_title: title }
}
