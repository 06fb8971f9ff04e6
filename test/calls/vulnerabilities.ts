import { Readable } from 'node:stream'
import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Vulnerability exports. The export in the path is finished, and belongs to the maintainer: nobody else may read it. */
export const vulnerabilities: Calls = {
  inPrivate: `
                                     none   0   5  10  15  20  30  40  50 adm nobody
  createProjectVulnerabilityExport    404 404 404 403 403 403 201 201 201 201 401
  createGroupVulnerabilityExport      404 404 403 403 403 403 201 201 201 201 401
  createVulnerabilityExport           201 201 201 201 201 201 201 201 201 201 401
  getVulnerabilityExport              403 403 403 403 403 403 403 200 403 403 401
  downloadVulnerabilityExport         403 403 403 403 403 403 403 200 403 403 401
`,
  inPublic: `
                                     none   0   5  10  15  20  30  40  50 adm nobody
  createProjectVulnerabilityExport    403 403 403 403 403 403 201 201 201 201 401
  createGroupVulnerabilityExport      403 403 403 403 403 403 201 201 201 201 401
`,
  set: async (world, { project, callers }, operation): Promise<Readonly<Record<string, string>>> => {
    if (operation.startsWith('create')) return {}
    const { blobs } = world.opened.instance
    const { sha256, size } = await blobs.write(Readable.from([Buffer.from('Group Name\n')]), { limit: 100 })
    const row = await rowOf<{ id: number }>(
      world,
      `insert into vulnerability_exports (author_id, project_id, project_ids, status, blob, size, finished_at)
       values ($1, $2, array[$2::bigint], 'finished', $3, $4, now()) returning id`,
      [callers.get('maintainer')?.id, project.id, sha256, size],
    )
    return { id: String(row.id) }
  },
}
