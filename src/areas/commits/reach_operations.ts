import { Type as t } from 'typebox'
import { code, commit } from '../../access/gates/code_gates.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { oneOf } from '../../http/params/schema.ts'

const TYPES = { branch: ['branch'], tag: ['tag'], all: ['branch', 'tag'] } as const

export const listCommitReferences = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/refs',
  summary: 'List the branches and tags that contain a commit',
  published: true,
  first: code,
  params: t.Object({ type: oneOf(['branch', 'tag', 'all'], { default: 'all' }) }),
  gates: [commit],
  handle: async ({ repository, commit, params, page }) => {
    const found = await repository.refsContaining(commit.id, TYPES[params.type])
    return { items: found.slice(page.offset, page.offset + page.limit), total: undefined }
  },
  returns: pageOf(t.Object({ type: oneOf(['branch', 'tag']), name: t.String() }), { strict: true }),
})

export const getCommitSequence = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/sequence',
  summary: 'Count the commits up to a commit',
  published: true,
  first: code,
  params: t.Object({ first_parent: t.Boolean({ default: false }) }),
  gates: [commit],
  handle: async ({ repository, commit, params }) => ({
    count: await repository.count(commit.id, { firstParent: params.first_parent }),
  }),
  returns: t.Object({ count: t.Integer() }),
})
