import type { FastifyInstance } from 'fastify'

/** Response headers that scripts of other origins may read, as published. */
const EXPOSED = [
  'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page',
  'X-Gitlab-Blob-Id, X-Gitlab-Commit-Id, X-Gitlab-Content-Sha256, X-Gitlab-Encoding, X-Gitlab-File-Name',
  'X-Gitlab-File-Path, X-Gitlab-Last-Commit-Id, X-Gitlab-Ref, X-Gitlab-Size, X-Request-Id, Idempotent-Replayed, ETag',
].join(', ')

const SHARED = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-expose-headers': EXPOSED,
  'access-control-max-age': '7200',
}

/**
 * Lets pages of any origin call the interface (CORS). `*` forbids browsers to send cookies along, so a page can do no
 * more than the token it holds; nothing outside `/api/` is shared.
 */
export function addCrossOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', ({ headers, method, url }, reply, done) => {
    if (headers.origin === undefined || !url.startsWith('/api/')) return done()
    reply.headers(SHARED)
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return done()
    const asked = headers['access-control-request-headers']
    if (asked !== undefined) reply.header('access-control-allow-headers', asked)
    reply.code(200).send()
  })
}
