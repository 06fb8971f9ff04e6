// Runners without jobs to do: each asks for a job, sends a line of its log and ends it, as fast as answers come.

const JOBS = 500
const RUNNERS = 4
const LOG = 'section of a log\n'.repeat(20)

export interface Ran {
  readonly perSecond: number
  /** Milliseconds from the request for a job to its end. */
  readonly p99: number
  /** Answers of another status than expected. */
  readonly refused: number
}

interface Owner {
  readonly project: number
  readonly token: string
}
const configuration = Array.from({ length: JOBS }, (_, at) => `job ${at}: { script: [make] }`).join('\n')

async function post(url: string, token: string, body: object): Promise<void> {
  const headers = { 'private-token': token, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(`${url}: ${text.slice(0, 200)}`)
}

let commits = 0

/** Starts a pipeline of 500 jobs; the milliseconds that its creation takes. */
export async function startPipeline(url: string, { project, token }: Owner): Promise<number> {
  const at = `${url}/api/v4/projects/${project}`
  if (commits === 0)
    await post(`${at}/repository/commits`, token, {
      branch: 'main',
      commit_message: 'Configure [skip ci]',
      actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: configuration }],
    })
  commits += 1
  const start = performance.now()
  await post(`${at}/pipeline`, token, { ref: 'main' })
  return performance.now() - start
}

/** Runs all jobs that wait. */
export async function runJobs(url: string, token: string): Promise<Ran> {
  const api = `${url}/api/v4`
  const times: number[] = []
  let refused = 0
  const json = { 'content-type': 'application/json' }
  const runner = async (system_id: string): Promise<void> => {
    for (;;) {
      const start = performance.now()
      const asked = await fetch(`${api}/jobs/request`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ token, system_id, info: { version: '17.0', features: {} } }),
      })
      const text = await asked.text()
      if (asked.status === 204) return
      const job = JSON.parse(text) as { id: number; token: string }
      const sent = await fetch(`${api}/jobs/${job.id}/trace`, {
        method: 'PATCH',
        headers: {
          'job-token': job.token,
          'content-type': 'text/plain',
          'content-range': `0-${LOG.length - 1}`,
        },
        body: LOG,
      })
      await sent.text()
      const ended = await fetch(`${api}/jobs/${job.id}`, {
        method: 'PUT',
        headers: json,
        body: JSON.stringify({ token: job.token, state: 'success' }),
      })
      await ended.text()
      if (asked.status !== 201 || sent.status !== 202 || ended.status !== 200) refused += 1
      times.push(performance.now() - start)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: RUNNERS }, (_, at) => runner(`s_${at}`)))
  const seconds = (performance.now() - began) / 1_000
  if (times.length !== JOBS) throw new Error(`${times.length} jobs ran`)
  times.sort((a, b) => a - b)
  return { perSecond: JOBS / seconds, p99: times[Math.floor((JOBS - 1) * 0.99)] ?? 0, refused }
}
