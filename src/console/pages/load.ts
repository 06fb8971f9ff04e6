import { meter } from '../render/charts.ts'
import { html, type Html } from '../web/html.ts'
import type { Calls } from '../web/calls.ts'
import { avatar, day } from '../web/parts.ts'
import type { Issue, Milestone, User } from '../web/records.ts'

/** The days from the first to the last. */
export const span = ({
  start_date: start,
  due_date: due,
}: Pick<Milestone, 'start_date' | 'due_date'>): string =>
  start && due ? `${day(start)} – ${day(due)}` : due ? `due ${day(due)}` : start ? `from ${day(start)}` : ''

/** Pages of a list that are read for one page. */
const MAX_PAGES = 20

export async function all<T>(
  call: Calls,
  operation: string,
  params: Record<string, string | number>,
): Promise<T[]> {
  const items: T[] = []
  for (let page = 1; page <= MAX_PAGES; page++) {
    const list = await call.list<T>(operation, { ...params, per_page: 100, page: String(page) })
    items.push(...list.items)
    if (!list.hasNext) break
  }
  return items
}

/** Issues of each person, the most first. */
function loads(issues: readonly Issue[]): { user: User | null; open: number; done: number }[] {
  const found = new Map<number, { user: User | null; open: number; done: number }>()
  for (const issue of issues)
    for (const user of issue.assignees.length > 0 ? issue.assignees : [null]) {
      const load = found.get(user?.id ?? 0) ?? { user, open: 0, done: 0 }
      if (issue.state === 'opened') load.open += 1
      else load.done += 1
      found.set(user?.id ?? 0, load)
    }
  return [...found.values()].toSorted((a, b) => b.open + b.done - (a.open + a.done))
}

export const loadList = (issues: readonly Issue[]): Html =>
  html`<table>
    <tbody>
      ${loads(issues).map(
        ({ user, open, done }) =>
          html`<tr>
            <td>
              ${user ? html`${avatar(user)} ${user.name}` : html`<span class="quiet">Nobody yet</span>`}
            </td>
            <td class="num">${done} of ${open + done}</td>
            <td>${meter(done, open + done, `${done} of ${open + done} done`)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
