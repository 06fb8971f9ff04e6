import { Type as t } from 'typebox'
import { MAX_MESSAGE_BYTES } from '../../git/objects/commit.ts'
import { code, filledRepository, signedInHere } from '../../access/gates/code_gates.ts'
import { developer } from '../../access/gates/gates.ts'
import { moveNamed } from '../../core/pushes/ref_writing.ts'
import { isBranchName, signatureOf } from '../../core/pushes/commit_writing.ts'
import { searching } from '../../core/repositories/ref_search.ts'
import { isGitError } from '../../git/errors.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { notFound, refused, type Problem } from '../../http/problems.ts'
import { oneOf } from '../../http/params/schema.ts'
import { Tag, present } from './entity.ts'
import { tag } from './gates.ts'
import { TAGS, complete, completeAll, listFound } from './store.ts'

export const listTags = operation({
  method: 'GET',
  path: '/projects/:id/repository/tags',
  summary: 'List tags, newest first',
  published: true,
  first: code,
  params: t.Object({
    order_by: oneOf(['name', 'updated', 'version'], { default: 'updated' }),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
    search: t.Optional(
      t.String({ description: 'Part of the name; `^` before its beginning, `$` after its end' }),
    ),
  }),
  gates: [filledRepository],
  handle: async (ctx) => {
    const { repository, params, page } = ctx
    const sorted = await listFound(repository, params.order_by, params.sort === 'desc')
    const matches = searching(params.search ?? '')
    const found = sorted.filter(({ name }) => matches(name))
    const some = found.slice(page.offset, page.offset + page.limit)
    const rows = await completeAll(repository, some)
    return { items: rows.map((row) => present(row, ctx)), total: found.length }
  },
  returns: pageOf(Tag),
})

export const getTag = operation({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name',
  summary: 'Get a tag',
  published: true,
  first: code,
  gates: [tag],
  handle: async (ctx) => present(ctx.tag, ctx),
  returns: Tag,
})

const noSignature = (): Problem => notFound('Signature')

export const getTagSignature = operation({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name/signature',
  summary: 'Get the signature of a tag; none is verified yet',
  published: true,
  first: code,
  gates: [tag],
  handle: async () => Promise.reject(noSignature()),
  returns: t.Object({ signature_type: t.String(), verification_status: t.String() }),
  refuses: [noSignature],
})

const badName = (): Problem => refused('Tag name invalid')
const taken = (name = ''): Problem => refused(`Tag ${name} already exists`)
const isDefaultName = (): Problem => refused('You cannot use default branch name to create a tag')
const badTarget = (ref = ''): Problem => refused(`Target ${ref} is invalid`)

export const createTag = operation({
  method: 'POST',
  path: '/projects/:id/repository/tags',
  summary: 'Create a tag, annotated when it has a message',
  published: true,
  moves: 'refs',
  first: [...code, signedInHere],
  params: t.Object({
    tag_name: t.String(),
    ref: t.String({ description: 'The branch, tag or commit that is tagged' }),
    message: t.Optional(t.String({ maxBytes: MAX_MESSAGE_BYTES, description: 'Makes an annotated tag' })),
  }),
  gates: [developer, filledRepository],
  handle: async (ctx) => {
    const { repository, actor, params, now } = ctx
    const { tag_name: name, ref, message = '' } = params
    if (!isBranchName(name)) throw badName()
    if (name === ctx.project.default_branch) throw isDefaultName()
    const object = await repository.resolve(ref)
    if (object === undefined) throw badTarget(ref)
    const full = TAGS + name
    const [made] = await moveNamed(ctx, [full], async (held) => {
      if (held.get(full) !== undefined) throw taken(name)
      const text = message.endsWith('\n') ? message : `${message}\n`
      const tagger = signatureOf(actor, now)
      const to = message === '' ? object : await repository.writeTag({ object, name, tagger, message: text })
      return [{ ref: full, from: undefined, to }]
    }).catch((error: unknown) => {
      // Another process was first, or `a` stands where `a/b` is to be.
      throw isGitError(error, 'moved') ? taken(name) : isGitError(error, 'refused') ? badName() : error
    })
    return present(await complete(repository, { name, id: made?.to ?? object }), ctx)
  },
  returns: Tag,
  refuses: [badName, isDefaultName, taken, badTarget],
})

export const deleteTag = operation({
  method: 'DELETE',
  path: '/projects/:id/repository/tags/:tag_name',
  summary: 'Delete a tag',
  published: true,
  moves: 'refs',
  first: [...code, signedInHere],
  gates: [developer, tag],
  handle: async (ctx) => {
    const ref = TAGS + ctx.tag.name
    await moveNamed(ctx, [ref], async (held) => {
      const from = held.get(ref)
      if (from === undefined) throw notFound('Tag')
      return [{ ref, from, to: undefined }]
    })
    return null
  },
  returns: nothing,
})
