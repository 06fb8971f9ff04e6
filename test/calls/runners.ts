import type { Calls } from './calls.ts'

/** Runners of a project: the place is a parameter, so that one that cannot be seen is forbidden as one that is not there. */
export const runners: Calls = {
  inPrivate: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  createUserRunner         403 403 403 403 403 403 403 201 201 201 401
`,
  bodies: {
    createUserRunner: ({ project }) => ({ runner_type: 'project_type', project_id: project.id }),
  },
}
