import { repositoryPath } from '../../src/core/places/projects.ts'
import { rowOf } from '../support/rows.ts'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

// Noteables of all kinds have the same rows: they differ in who sees the record.

const NOUNS = ['Issue', 'MergeRequest', 'Snippet', 'Epic', 'Commit'] as const
type Noun = (typeof NOUNS)[number]

/** A line of each kind; of a note that nobody wrote, and a reaction of the owner's. */
interface Lines {
  readonly reads: string
  readonly writes: string
  readonly edits: string
  readonly deletes: string
  readonly settles: string
  readonly sees: string
  readonly reacts: string
  readonly takesBack: string
}
//                none   0   5  10  15  20  30  40  50 adm nobody
const MEMBERS: Lines = {
  reads: '         404 404 404 200 200 200 200 200 200 200 401',
  writes: '        404 404 404 201 201 201 201 201 201 201 401',
  edits: '         404 404 404 403 403 403 403 200 200 200 401',
  deletes: '       404 404 404 403 403 403 403 204 204 204 401',
  settles: '',
  sees: '          404 404 404 200 200 200 200 200 200 200 404',
  reacts: '        404 404 404 201 201 201 201 201 201 201 404',
  takesBack: '     404 404 404 401 401 401 401 401 204 204 404',
}
const CODE: Lines = {
  reads: '         404 404 404 404 404 200 200 200 200 200 401',
  writes: '        404 404 404 404 404 201 201 201 201 201 401',
  edits: '         404 404 404 404 404 403 403 200 200 200 401',
  deletes: '       404 404 404 404 404 403 403 204 204 204 401',
  settles: '       404 404 404 404 404 403 200 200 200 200 401',
  sees: '          404 404 404 404 404 200 200 200 200 200 404',
  reacts: '        404 404 404 404 404 201 201 201 201 201 404',
  takesBack: '     404 404 404 404 404 401 401 401 204 204 404',
}
const PUBLIC: Lines = {
  reads: '         200 200 200 200 200 200 200 200 200 200 401',
  writes: '        201 201 201 201 201 201 201 201 201 201 401',
  edits: '         403 403 403 403 403 403 403 200 200 200 401',
  deletes: '       403 403 403 403 403 403 403 204 204 204 401',
  settles: '       403 403 403 403 403 403 200 200 200 200 401',
  sees: '          200 200 200 200 200 200 200 200 200 200 200',
  reacts: '        201 201 201 201 201 201 201 201 201 201 404',
  takesBack: '     401 401 401 401 401 401 401 401 204 204 401',
}

const reactions = (noun: string, lines: Lines): string[] => [
  `list${noun}AwardEmoji ${lines.sees}`,
  `get${noun}AwardEmoji ${lines.sees}`,
  `create${noun}AwardEmoji ${lines.reacts}`,
  `delete${noun}AwardEmoji ${lines.takesBack}`,
]
const of = (noun: Noun, lines: Lines): string[] => [
  `list${noun}Discussions ${lines.reads}`,
  `get${noun}Discussion ${lines.reads}`,
  `create${noun}Discussion ${lines.writes}`,
  `list${noun}DiscussionNotes ${lines.reads}`,
  `get${noun}DiscussionNote ${lines.reads}`,
  `create${noun}DiscussionNote ${lines.writes}`,
  `update${noun}DiscussionNote ${lines.edits}`,
  `delete${noun}DiscussionNote ${lines.deletes}`,
  ...(noun === 'MergeRequest' ? [`resolve${noun}Discussion ${lines.settles}`] : []),
  ...(noun === 'Commit'
    ? []
    : [
        `list${noun}Notes ${lines.reads}`,
        `get${noun}Note ${lines.reads}`,
        `create${noun}Note ${lines.writes}`,
        `update${noun}Note ${lines.edits}`,
        `delete${noun}Note ${lines.deletes}`,
        ...reactions(noun, lines),
        ...reactions(`${noun}Note`, lines),
      ]),
]

const PARENTS: Readonly<Record<Noun, (scene: Scene, sha: string) => string>> = {
  Issue: ({ project }) => `insert into issues (project_id, iid, title) values (${project.id}, 1, 'x')`,
  MergeRequest: ({ project }) => `
    insert into merge_requests (project_id, iid, title, source_project_id, source_branch, target_branch)
    values (${project.id}, 1, 'x', ${project.id}, 'topic', 'main')`,
  Snippet: ({ project }) => `
    insert into snippets (project_id, title, visibility) values (${project.id}, 'x', 'public')`,
  Epic: ({ group }) => `insert into epics (group_id, iid, title) values (${group.id}, 1, 'x')`,
  Commit: ({ project }, sha) =>
    `insert into noteable_commits (project_id, sha) values (${project.id}, '${sha}')`,
}

async function set(world: World, scene: Scene, operation: string): Promise<Readonly<Record<string, string>>> {
  const { project, group, callers } = scene
  const noun = NOUNS.find((one) => operation.replace(/^[a-z]+/, '').startsWith(one)) ?? 'Issue'
  const repository = world.opened.instance.git.repository(repositoryPath(project.id))
  const sha = (await repository.resolve('main')) ?? ''
  await world.make.sql(`
    delete from issues where project_id = ${project.id};
    delete from merge_requests where project_id = ${project.id};
    delete from snippets where project_id = ${project.id};
    delete from noteable_commits where project_id = ${project.id};
    delete from epics where group_id = ${group.id};`)
  const row = await rowOf<Record<string, number | string>>(
    world,
    `with about as (${PARENTS[noun](scene, sha)} returning id),
          thread as (insert into discussions (key, noteable_id, individual_note)
                     select encode(sha256(('thread ' || id)::bytea), 'hex')::char(40), id, false from about
                     returning id, key, noteable_id),
          note as (insert into notes (discussion_id, noteable_id, type, body)
                   select id, noteable_id, 'DiscussionNote', 'x' from thread returning id)
     select about.id as about, thread.key, note.id as note from about, thread, note`,
  )
  const onNote = operation.endsWith('NoteAwardEmoji')
  const award = await rowOf<{ id: number }>(
    world,
    `insert into award_emoji (name, user_id, ${onNote ? 'note_id' : 'noteable_id'}) values ('tada', $1, $2) returning id`,
    [callers.get('owner')?.id, onNote ? row['note'] : row['about']],
  )
  const about = String(row['about'])
  return {
    issue_iid: '1',
    merge_request_iid: '1',
    epic_iid: '1',
    snippet_id: about,
    epic_id: about,
    commit_id: sha,
    discussion_id: String(row['key']),
    note_id: String(row['note']),
    award_id: String(award.id),
  }
}

const everywhere = (suffix: string, prefix: string, body: object): Record<string, object> =>
  Object.fromEntries(NOUNS.map((noun) => [`${prefix}${noun}${suffix}`, body]))

/** Notes, threads and reactions. */
export const conversation: Calls = {
  inPrivate: NOUNS.flatMap((noun) =>
    of(noun, noun === 'MergeRequest' || noun === 'Commit' ? CODE : MEMBERS),
  ).join('\n'),
  inPublic: NOUNS.flatMap((noun) => of(noun, PUBLIC)).join('\n'),
  bodies: {
    ...everywhere('Note', 'create', { body: 'fresh' }),
    ...everywhere('Note', 'update', { body: 'changed' }),
    ...everywhere('Discussion', 'create', { body: 'fresh' }),
    ...everywhere('DiscussionNote', 'create', { body: 'fresh' }),
    ...everywhere('DiscussionNote', 'update', { body: 'changed' }),
    ...everywhere('AwardEmoji', 'create', { name: 'rocket' }),
    ...everywhere('NoteAwardEmoji', 'create', { name: 'rocket' }),
    resolveMergeRequestDiscussion: { resolved: true },
  },
  set,
}
