import { html, type Html } from '../web/html.ts'
import type { List } from '../web/calls.ts'
import { get, type Route, type View } from '../web/page.ts'
import { ago, badge, empty, person } from '../web/parts.ts'
import { inProject, of, type InProject } from '../web/places.ts'
import type { Job, User } from '../web/records.ts'
import { absentOr } from './refs.ts'

interface Environment {
  readonly id: number
  readonly name: string
  readonly state: string
  readonly tier: string
}
interface Deployment {
  readonly id: number
  readonly iid: number
  readonly status: string
  readonly ref: string
  readonly sha: string
  readonly created_at: string
  readonly user: User | null
  readonly environment: { readonly name: string }
}
interface Freeze {
  readonly id: number
  readonly freeze_start: string
  readonly freeze_end: string
  readonly cron_timezone: string
}
interface ResourceGroup {
  readonly id: number
  readonly key: string
  readonly process_mode: string
}

const rows = (items: readonly Html[], none: string): Html =>
  items.length === 0
    ? empty(none)
    : html`<ul class="rows">
        ${items}
      </ul>`

const queueRow = (ask: InProject, { key, process_mode: mode }: ResourceGroup, jobs: readonly Job[]): Html =>
  html`<li>
    <div class="grow">
      <strong class="mono">${key}</strong> ${badge('default', mode)}
      <div class="meta">
        ${jobs.length === 0 ? 'No job waits for it.' : jobs.map((job) => html`<a href="${of(ask.project, 'jobs', job.id)}">${job.name} #${job.id}</a>`)}
      </div>
    </div>
  </li>`

/** Resource groups with the jobs that wait for them. */
async function queues(ask: InProject): Promise<Html> {
  const { call, project } = ask
  const groups = await call
    .list<ResourceGroup>('listResourceGroups', { id: project.id, per_page: 20 })
    .catch(absentOr)
  const waiting = await Promise.all(
    (groups?.items ?? []).map(async (group) => {
      const jobs: List<Job> | undefined = await call
        .list<Job>('listUpcomingJobs', { id: project.id, key: group.key })
        .catch(absentOr)
      return queueRow(ask, group, jobs?.items ?? [])
    }),
  )
  return rows(waiting, 'No job of this project names a resource group.')
}

const environmentRow = ({ name, tier, state }: Environment): Html =>
  html`<li>
    <div class="grow">
      <strong>${name}</strong>
      <div class="meta"><span>${tier}</span></div>
    </div>
    ${badge(state === 'available' ? 'active' : state, state)}
  </li>`
const deploymentRow = ({ project, now }: InProject, each: Deployment): Html =>
  html`<li>
    ${badge(each.status)}
    <div class="grow">
      <span class="title">${each.environment.name}</span>
      <div class="meta">
        <span class="mono">${each.ref}</span
        ><a class="sha" href="${of(project, 'commit', each.sha)}">${each.sha.slice(0, 8)}</a
        >${person(each.user, 16)}
      </div>
    </div>
    <span class="quiet small nowrap">${ago(each.created_at, now)}</span>
  </li>`
const freezeRow = (each: Freeze): Html =>
  html`<li>
    <div class="grow">
      From <code>${each.freeze_start}</code> to <code>${each.freeze_end}</code>
      <span class="quiet">${each.cron_timezone}</span>
    </div>
  </li>`

async function environments(ask: InProject): Promise<View> {
  const { call, project } = ask
  const asked = { id: project.id }
  const newest = { ...asked, order_by: 'created_at', sort: 'desc' }
  const [found, deployments, freezes, queue] = await Promise.all([
    call.list<Environment>('listEnvironments', { ...asked, per_page: 100 }),
    call.list<Deployment>('listDeployments', newest).catch(absentOr),
    call.list<Freeze>('listFreezePeriods', asked).catch(absentOr),
    queues(ask),
  ])
  const part = (title: string, content: Html): Html =>
    html`<section>
      <h2>${title}</h2>
      ${content}
    </section>`
  const deployed = (deployments?.items ?? []).map((each) => deploymentRow(ask, each))
  const frozen = (freezes?.items ?? []).map((each) => freezeRow(each))
  const environmentRows = found.items.map((each) => environmentRow(each))
  return {
    title: 'Environments',
    main: html`<div class="head"><h1>Environments</h1></div>
      ${rows(environmentRows, 'Nothing has been deployed from here yet.')}
      ${part('Deployments', rows(deployed, 'There are no deployments.'))}${part('Resource groups', queue)}
      ${part('Freeze periods', rows(frozen, 'Deployments are never frozen.'))}`,
  }
}

export const deliveryRoutes: readonly Route[] = [
  get('/*place/-/environments', inProject('environments', environments)),
]
