import type { Filled } from './many_issues_fill.ts'
import { TALKED_OF } from './many_records_fill.ts'

// Every filter and order that lists of issues have, and those that go together often.

const pages = (text: string): string[] =>
  text.split('|').map((page) => (page.trim() === 'AS IT COMES' ? '' : page.trim()))

const ORDERS = pages(`
  order_by=created_at&sort=asc | order_by=updated_at | order_by=updated_at&sort=asc | order_by=title |
  order_by=title&sort=asc | order_by=due_date | order_by=due_date&sort=asc | order_by=weight |
  order_by=weight&sort=asc | order_by=popularity | order_by=relative_position&sort=asc`)
/** These have no index: they look at all that matches. */
const LOOKED_THROUGH = pages(`
  order_by=milestone_due | order_by=milestone_due&sort=asc | order_by=label_priority&sort=asc |
  order_by=priority | order_by=priority&sort=asc`)
const LABELS = pages(`
  labels=label 1 | labels=label 2 | labels=label 3 | labels=label 4 | labels=of all | labels=None | labels=Any |
  not[labels]=label 1 | not[labels]=label 1,label 2,label 5 | labels=label 1,label 2 | labels=label 2,label 5 |
  labels=label 3,label 6 | labels=label 3,label 4 | labels=label 1,of all | labels=label 1,label 2,label 5 |
  labels=label 1&not[labels]=label 2 | labels=label 2&state=opened | labels=label 1&order_by=updated_at |
  labels=label 3&order_by=updated_at | labels=label 2&order_by=weight | labels=label 2&milestone=v2 |
  labels=label 2&author_id=7 | labels=label 2&assignee_id=5 | labels=label 2&search=issue |
  labels=label 4&order_by=title`)
const PEOPLE = pages(`
  author_id=7 | author_username=u6 | not[author_id]=7 | author_id=7&state=opened |
  author_id=7&order_by=updated_at | assignee_id=5 | assignee_username=u5 | assignee_id=99 | assignee_id=None |
  assignee_id=Any | not[assignee_id]=5 | assignee_id=5&state=opened | assignee_id=5&order_by=updated_at |
  assignee_id=5&author_id=7 | scope=created_by_me | scope=assigned_to_me |
  scope=assigned_to_me&state=opened&order_by=updated_at | my_reaction_emoji=thumbsup |
  my_reaction_emoji=rocket | my_reaction_emoji=heart | my_reaction_emoji=None | my_reaction_emoji=Any |
  not[my_reaction_emoji]=thumbsup`)
const PLANS = pages(`
  milestone=v2 | milestone=v2&state=opened | milestone=v2&order_by=updated_at | milestone=v40 | milestone=None |
  milestone=Any | milestone_id=Started | milestone_id=Upcoming | not[milestone]=v2 | not[milestone_id]=Started |
  milestone=None&state=opened | weight=3 | weight=None | weight=Any | weight=99 | not[weight]=3 |
  weight=3&order_by=updated_at | epic_id=2 | epic_id=None | epic_id=Any | not[epic_id]=2 | iteration_id=2 |
  iteration_id=None | iteration_id=Any | iteration_title=week 2 | not[iteration_id]=2 | due_date=0 |
  due_date=any | due_date=today | due_date=week | due_date=month | due_date=overdue |
  due_date=next_month_and_previous_two_weeks | due_date=overdue&state=opened`)
const REST = pages(`
  AS IT COMES | page=50 | page=10&per_page=100 | per_page=100 | state=opened | state=closed |
  state=closed&order_by=updated_at | state=opened&order_by=due_date&sort=asc | state=opened&order_by=weight |
  state=opened&order_by=title&sort=asc | state=opened&order_by=popularity | iids[]=5&iids[]=77 | not[iids][]=5 |
  confidential=true | confidential=false | confidential=true&state=closed | issue_type=issue |
  issue_type=incident | issue_type=task | created_after=2020-01-01 | created_before=2020-01-01 |
  updated_after=2020-01-01 | updated_before=2020-01-01 | MIDDLE | search=capsized | search=ab12c |
  search=issue | search=zzzz | search=wrong sentence | search=is | search=issue&in=title |
  search=wrong&in=description | search=issue&order_by=updated_at | search=capsized&state=opened |
  search=issue&state=closed | search=12 | search=ab1`)
/** What a page of another list stands for: of a group, and of everything. */
const ABROAD = pages(`
  AS IT COMES | page=50 | state=opened | state=closed&order_by=updated_at | order_by=updated_at |
  order_by=due_date | order_by=title&sort=asc | order_by=weight | order_by=popularity | labels=label 1 |
  labels=label 2 | labels=label 3 | labels=label 4 | labels=of all | labels=label 1,label 2 |
  labels=label 2,of all | labels=None | labels=Any | not[labels]=label 1 | labels=label 2&state=opened |
  milestone=v2 | milestone=None | milestone=Any | milestone_id=Started | author_id=7 | author_username=u6 |
  assignee_id=5 | assignee_id=99 | assignee_id=None | assignee_id=5&state=opened | weight=3 | weight=None |
  epic_id=2 | iteration_id=2 | due_date=overdue | due_date=0 | confidential=true | issue_type=incident |
  my_reaction_emoji=thumbsup | my_reaction_emoji=rocket | search=capsized | search=issue |
  created_after=2020-01-01 | updated_before=2020-01-01 | iids[]=5&iids[]=77 | scope=created_by_me |
  scope=assigned_to_me | scope=assigned_to_me&order_by=updated_at`)
const MERGE_REQUESTS = pages(`
  AS IT COMES | page=50 | state=opened | state=merged&order_by=updated_at | order_by=updated_at | order_by=title&sort=asc |
  order_by=merged_at | order_by=popularity | order_by=milestone_due&sort=asc | order_by=label_priority&sort=asc |
  labels=label 1 | labels=label 2 | labels=label 3 | labels=label 4 | labels=label 1,label 2 | labels=None | labels=Any |
  not[labels]=label 1 | author_id=7 | author_id=7&state=opened | assignee_id=5 | assignee_id=None | reviewer_id=5 |
  reviewer_id=None | milestone=v2 | milestone=None | search=capsized | search=change | target_branch=next |
  source_branch=branch-77 | my_reaction_emoji=None | created_after=2020-01-01 | iids[]=5`)
const TALK = pages(`
  notes | notes?sort=asc | notes?order_by=updated_at | notes?page=50 | notes?activity_filter=only_comments |
  notes?activity_filter=only_activity | discussions | discussions?page=50 | award_emoji | award_emoji?page=50 |
  resource_label_events | resource_label_events?page=50 | resource_state_events | participants`)
const TODOS = pages(`AS IT COMES | page=50 | state=done | action=assigned | type=Issue | author_id=7`)
// Half an hour before now the fewer ones end, which is in the middle of neither; an hour has 3,600 of the many.
const middle = (): string => {
  const at = (back: number): string => new Date(Date.now() - back * 1000).toISOString()
  return `created_after=${at(7_200)}&created_before=${at(3_600)}`
}

export interface Pair {
  readonly who: 'planner' | 'guest' | 'group' | 'all' | 'changes' | 'talk' | 'todos'
  readonly page: string
  readonly few: string
  readonly many: string
}

export function pagesOf({ few, many }: Filled): Pair[] {
  const query = (page: string): string => (page === 'MIDDLE' ? middle() : page)
  const inProject = (who: 'planner' | 'guest', wanted: readonly string[]) =>
    wanted.map((page) => ({
      who,
      page,
      few: `/projects/${few.project}/issues?${query(page)}`,
      many: `/projects/${many.project}/issues?${query(page)}`,
    }))
  const inGroup = ABROAD.map((page) => ({
    who: 'group' as const,
    page,
    few: `/groups/${few.group}/issues?${page}`,
    many: `/groups/${many.group}/issues?${page}`,
  }))
  // Of another instance, because each has one everything.
  const everywhere = ABROAD.map((page) => {
    const path = `/issues?${page.includes('scope=') ? '' : 'scope=all&'}${page}`
    return { who: 'all' as const, page, few: path, many: path }
  })
  const beside = (who: 'changes' | 'talk', start: string, wanted: readonly string[]) =>
    wanted.map((page) => ({
      who,
      page,
      few: `/projects/${few.project}/${start}${page}`,
      many: `/projects/${many.project}/${start}${page}`,
    }))
  const records = [
    ...beside('changes', 'merge_requests?', MERGE_REQUESTS),
    ...beside('talk', `issues/${TALKED_OF}/`, TALK),
    ...TODOS.map((page) => ({ who: 'todos' as const, page, few: `/todos?${page}`, many: `/todos?${page}` })),
  ]
  const usual = [...REST, ...ORDERS, ...LABELS, ...PEOPLE, ...PLANS]
  const near = [...inProject('planner', usual), ...inProject('guest', usual)]
  return [...near, ...inGroup, ...everywhere, ...inProject('planner', LOOKED_THROUGH), ...records]
}
