import type { Calls } from './calls.ts'

/** Checks of pipeline configurations. */
export const lint: Calls = {
  inPrivate: `
                              none   0   5  10  15  20  30  40  50 adm nobody
  checkCommittedConfiguration   404 404 404 403 403 200 200 200 200 200 404
  checkGivenConfiguration       404 404 404 403 403 403 200 200 200 200 401
`,
  inPublic: `
                              none   0   5  10  15  20  30  40  50 adm nobody
  checkCommittedConfiguration   200 200 200 200 200 200 200 200 200 200 200
  checkGivenConfiguration       403 403 403 403 403 403 200 200 200 200 401
`,
  reads: ['checkGivenConfiguration'],
  bodies: { checkGivenConfiguration: { content: 'job: {script: make}' } },
}
