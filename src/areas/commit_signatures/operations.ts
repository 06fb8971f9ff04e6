import { Type as t } from 'typebox'
import { code, commit } from '../../access/gates/code_gates.ts'
import { operation } from '../../http/operation.ts'
import { notFound, type Problem } from '../../http/problems.ts'

const noSignature = (): Problem => notFound('Signature')

export const getCommitSignature = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/signature',
  summary: 'Get the signature of a commit; none is verified yet',
  published: true,
  first: code,
  gates: [commit],
  handle: async () => Promise.reject(noSignature()),
  returns: t.Object({ signature_type: t.String(), verification_status: t.String() }),
  refuses: [noSignature],
})
