import { Type as t } from 'typebox'
import { project } from '../../../access/gates/gates.ts'
import { readsPackages } from '../../../access/gates/package_gates.ts'
import { readsPipelines } from '../../../access/gates/pipeline_gates.ts'
import { operation, pageOf, type PageRequest } from '../../../http/operation.ts'
import { nullable } from '../../../http/params/schema.ts'
import { badParams } from '../../../http/problems.ts'
import { UserBasic, presentUser } from '../../../records/people/user.ts'
import { Pipeline, presentPipeline } from '../../../records/pipelines/pipeline.ts'
import { DISPLAYED, noPackage, packageOf } from '../gates.ts'
import { listPipelines } from './store.ts'

const PackagePipeline = t.Object({ ...Pipeline.properties, user: nullable(UserBasic) })

/** Pipelines of one page, as published. */
const MAX_PAGE = 20
const badPage = () => badParams(['per_page does not have a valid value'])

function cursorOf({ cursor = '' }: PageRequest): number | null {
  if (cursor === '') return null
  if (!/^\d{1,15}$/.test(cursor)) throw badParams(['cursor is invalid'])
  return Number(cursor)
}

export const listPackagePipelines = operation({
  method: 'GET',
  path: '/projects/:id/packages/:package_id/pipelines',
  summary: 'List the pipelines that published files of a package, the newest first',
  published: true,
  jobTokens: true,
  gates: [project, readsPackages, readsPipelines, packageOf],
  handle: async (ctx) => {
    const { db, project, pack, page } = ctx
    if (!DISPLAYED.has(pack.status)) throw noPackage()
    if (page.limit > MAX_PAGE) throw badPage()
    // One more than the page tells whether there is another.
    const values = { package_id: pack.id, before: cursorOf(page), limit: page.limit + 1 }
    const found = await listPipelines(db, values)
    const items = found.slice(0, page.limit).map((row) => ({
      ...presentPipeline(row, project, ctx),
      user: row.starter && presentUser(row.starter, ctx),
    }))
    const last = items.at(-1)
    return { items, next: last && found.length > page.limit ? String(last.id) : undefined }
  },
  returns: pageOf(PackagePipeline, { keyset: true }),
  refuses: [badPage, badParams(['cursor is invalid']), noPackage],
})
