import type { Calls } from './calls.ts'

/** Checks of pipeline configurations. */
export const lint: Calls = {
  inPrivate: `
                              none   0   5  10  15  20  30  40  50 adm nobody
  lintCommittedConfiguration   404 404 404 403 403 200 200 200 200 200 404
  lintGivenConfiguration       404 404 404 403 403 403 200 200 200 200 401
`,
  inPublic: `
                              none   0   5  10  15  20  30  40  50 adm nobody
  lintCommittedConfiguration   200 200 200 200 200 200 200 200 200 200 200
  lintGivenConfiguration       403 403 403 403 403 403 200 200 200 200 401
`,
  bodies: { lintGivenConfiguration: { content: 'job: {script: make}' } },
}
