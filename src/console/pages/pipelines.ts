import { ansi, MAX_LOG_BYTES } from '../render/ansi.ts'
import { Download } from '../../http/answers/download.ts'
import { html, type Html } from '../web/html.ts'
import { get, post, type Bytes, type Page, type Route, type View } from '../web/page.ts'
import { ago, badge, bytes, duration, empty, form, pager, paging, person } from '../web/parts.ts'
import { inProject, of, type InProject } from '../web/places.ts'
import type { Job, Pipeline } from '../web/records.ts'
import { absentOr } from './refs.ts'

const FINISHED: ReadonlySet<string> = new Set(['success', 'failed', 'canceled', 'skipped', 'manual'])

const row = (ask: InProject, pipeline: Pipeline): Html =>
  html`<li>
    ${badge(pipeline.status)}
    <div class="grow">
      <a class="title" href="${of(ask.project, 'pipelines', pipeline.id)}"
        >${pipeline.name ?? `Pipeline #${pipeline.id}`}</a
      >
      <div class="meta">
        <a class="sha" href="${of(ask.project, 'commit', pipeline.sha)}">${pipeline.sha.slice(0, 8)}</a
        ><span class="mono">${pipeline.ref}</span><span>${pipeline.source.replaceAll('_', ' ')}</span>
      </div>
    </div>
    <span class="quiet small nowrap">${ago(pipeline.created_at, ask.now)}</span>
  </li>`

async function list(ask: InProject): Promise<View> {
  const { call, project } = ask
  const list = await call.list<Pipeline>('listPipelines', {
    id: project.id,
    ref: ask.query.get('ref') || undefined,
    ...paging(ask),
  })
  const latest = await call.one<Pipeline>('getLatestPipeline', { id: project.id }).catch(absentOr)
  return {
    title: 'Pipelines',
    main: html`<div class="head">
        <h1>Pipelines</h1>
        ${latest && html`<span class="meta">Default branch ${badge(latest.status)}</span>`}
      </div>
      ${
        list.items.length === 0
          ? empty('No pipeline has run yet. Add a .gitlab-ci.yml to the repository.')
          : html`<ul class="rows">
              ${list.items.map((each) => row(ask, each))}
            </ul>`
      }${pager(ask, list)}`,
  }
}

const toneOf = ({ status, allow_failure: allowed }: Job): string =>
  status === 'failed' && allowed ? 'warning' : status

const jobCard = (ask: InProject, job: Job): Html =>
  html`<li>
    <a class="job" href="${of(ask.project, 'jobs', job.id)}"
      ><i class="dot is-${toneOf(job)}"></i><span title="${job.name}">${job.name}</span
      ><span class="quiet small right"
        >${job.status === 'success' || job.status === 'failed' ? duration(job.duration) : job.status.replaceAll('_', ' ')}</span
      ></a
    >
  </li>`

/** Jobs under their stages, in the order in which stages run. */
function stages(ask: InProject, jobs: readonly Job[]): Html {
  const byStage = new Map<string, Job[]>()
  for (const job of jobs.toSorted((a, b) => a.id - b.id))
    byStage.set(job.stage, [...(byStage.get(job.stage) ?? []), job])
  return html`<div class="stages" tabindex="0" role="region" aria-label="Stages">
    ${[...byStage].map(
      ([stage, its]) =>
        html`<section class="stage">
          <h2>${stage}</h2>
          <ul>
            ${its.map((job) => jobCard(ask, job))}
          </ul>
        </section>`,
    )}
  </div>`
}

async function show(ask: InProject): Promise<View> {
  const { call, project, at, now } = ask
  const asked = { id: project.id, pipeline_id: at['id'] }
  const [pipeline, jobs] = await Promise.all([
    call.one<Pipeline>('getPipeline', asked),
    call.list<Job>('listPipelineJobs', { ...asked, per_page: 100 }).catch(absentOr),
  ])
  const here = of(project, 'pipelines', pipeline.id)
  const isOver = FINISHED.has(pipeline.status)
  return {
    title: `Pipeline #${pipeline.id}`,
    wide: true,
    main: html`<div data-part="head" class="head">
        <div>
          <h1>${pipeline.name ?? `Pipeline #${pipeline.id}`}</h1>
          <div class="meta">
            ${badge(pipeline.status)}${person(pipeline.user)}<a
              class="sha"
              href="${of(project, 'commit', pipeline.sha)}"
              >${pipeline.sha.slice(0, 8)}</a
            ><span class="chip mono">${pipeline.ref}</span
            ><span>${ago(pipeline.created_at, now)}</span
            >${pipeline.duration !== null && pipeline.duration !== undefined && html`<span>${duration(pipeline.duration)}</span>`}
          </div>
        </div>
        ${ask.viewer !== null && html`<div class="actions">${isOver ? form(ask, `${here}/retry`, html`<button class="small">Retry</button>`) : form(ask, `${here}/cancel`, html`<button class="small">Cancel</button>`)}</div>`}
      </div>
      ${pipeline.yaml_errors && html`<div class="note-box bad">${pipeline.yaml_errors}</div>`}
      <div data-part="stages" data-live="${isOver ? 'no' : 'yes'}">
        ${jobs === undefined || jobs.items.length === 0 ? empty('There are no jobs for you to see.') : stages(ask, jobs.items)}
      </div>`,
  }
}

async function traceOf({ call, project, at }: InProject): Promise<Download | undefined> {
  const answer = await call.raw('getJobTrace', { id: project.id, job_id: at['id'] }).catch(absentOr)
  return answer instanceof Download ? answer : undefined
}

async function textOf(trace: Download | undefined): Promise<string> {
  if (trace === undefined) return ''
  const { size } = trace
  if (size === 0) return ''
  const range =
    size !== undefined && size > MAX_LOG_BYTES ? { start: size - MAX_LOG_BYTES, end: size - 1 } : undefined
  const parts: Buffer[] = []
  let length = 0
  for await (const part of await trace.open(range)) {
    parts.push(part as Buffer)
    length += (part as Buffer).length
    if (length > 2 * MAX_LOG_BYTES) break
  }
  return Buffer.concat(parts).subarray(-MAX_LOG_BYTES).toString('utf8')
}

async function job(ask: InProject): Promise<View> {
  const { call, project, at, now } = ask
  const [it, trace] = await Promise.all([
    call.one<Job>('getJob', { id: project.id, job_id: at['id'] }),
    traceOf(ask),
  ])
  const text = await textOf(trace)
  const here = of(project, 'jobs', it.id)
  const isOver = FINISHED.has(it.status)
  const act = it.status === 'manual' ? 'play' : isOver ? 'retry' : 'cancel'
  return {
    title: `${it.name} (#${it.id})`,
    main: html`<div data-part="head" class="head">
        <div>
          <h1>${it.name}</h1>
          <div class="meta">
            ${badge(toneOf(it), it.status)}${person(it.user)}<a
              href="${of(project, 'pipelines', it.pipeline.id)}"
              >Pipeline #${it.pipeline.id}</a
            ><span>${it.stage}</span><span class="chip mono">${it.ref}</span
            ><span>${ago(it.started_at ?? it.created_at, now)}</span><span>${duration(it.duration)}</span>
          </div>
        </div>
        ${ask.viewer !== null && html`<div class="actions">${form(ask, `${here}/${act}`, html`<button class="small">${act === 'play' ? 'Run' : act === 'retry' ? 'Retry' : 'Cancel'}</button>`)}</div>`}
      </div>
      ${it.failure_reason && html`<div class="note-box bad">It failed: ${it.failure_reason.replaceAll('_', ' ')}.</div>`}
      ${it.artifacts_file && html`<p class="quiet small">Artifacts: ${it.artifacts_file.filename}, ${bytes(it.artifacts_file.size)}</p>`}
      <div data-part="log" data-live="${isOver ? 'no' : 'yes'}">
        ${
          text === ''
            ? empty(
                trace === undefined && isOver
                  ? 'The log is not open to you, or there is none.'
                  : 'There is no log yet.',
              )
            : html`<pre class="log" tabindex="0" aria-label="Log">${ansi(text)}</pre>
                <p class="small"><a href="${here}/raw">Whole log</a></p>`
        }
      </div>`,
  }
}

async function rawLog(ask: InProject): Promise<Bytes> {
  await ask.call.one<Job>('getJob', { id: ask.project.id, job_id: ask.at['id'] })
  const trace = await traceOf(ask)
  return {
    type: 'text/plain; charset=utf-8',
    body: trace === undefined || trace.size === 0 ? '' : await trace.open(),
  }
}

/** A form that calls one operation of a pipeline or a job, and comes back to what it answers. */
const acts = (operation: string, noun: 'pipelines' | 'jobs'): Page =>
  inProject('pipelines', async ({ call, project, at }) => {
    const key = noun === 'jobs' ? 'job_id' : 'pipeline_id'
    const answered = await call.one<{ id: number }>(operation, { id: project.id, [key]: at['id'] })
    return { to: of(project, noun, answered.id) }
  })

export const pipelineRoutes: readonly Route[] = [
  get('/*place/-/pipelines', inProject('pipelines', list)),
  get('/*place/-/pipelines/:id', inProject('pipelines', show)),
  post('/*place/-/pipelines/:id/retry', acts('retryPipeline', 'pipelines')),
  post('/*place/-/pipelines/:id/cancel', acts('cancelPipeline', 'pipelines')),
  get('/*place/-/jobs/:id', inProject('pipelines', job)),
  get('/*place/-/jobs/:id/raw', inProject('pipelines', rawLog)),
  post('/*place/-/jobs/:id/play', acts('playJob', 'jobs')),
  post('/*place/-/jobs/:id/retry', acts('retryJob', 'jobs')),
  post('/*place/-/jobs/:id/cancel', acts('cancelJob', 'jobs')),
]
