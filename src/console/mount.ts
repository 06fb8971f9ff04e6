import { randomBytes } from 'node:crypto'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { enter, actorOf } from '../access/entry_row.ts'
import { findSession } from '../access/sessions.ts'
import { Redirect as Moved } from '../http/redirect.ts'
import { Problem, forbidden, noRoute } from '../http/problems.ts'
import type { Instance } from '../instance.ts'
import type { NamedOperation } from '../http/operation.ts'
import type { Surroundings } from '../http/surroundings.ts'
import { mountAssets } from './assets.ts'
import { routes } from './pages/index.ts'
import { PAGES } from './web/address.ts'
import { createCalls } from './web/calls.ts'
import { SESSION, VISIT, createCookies, csrfOf, isOwnForm } from './web/cookies.ts'
import { layout } from './web/layout.ts'
import type { Ask, Reply, Viewer } from './web/page.ts'
import { refusalView } from './pages/refusals.ts'
import { of } from './web/places.ts'
import type { Project } from './web/records.ts'
import { createRouter } from './web/routes.ts'

/** Nothing of another origin, no script that is not a file of ours, no frame around a page. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  vary: 'Accept, Cookie, Origin',
}
/** Bytes shown as they are do nothing in the reader's name. */
const FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

export interface ConsoleOptions extends Pick<Surroundings, 'instance' | 'admit' | 'checkAnswers'> {
  readonly operations: readonly NamedOperation[]
  /** The Problem that an error is answered with. */
  readonly faultOf: (error: FastifyError, request: FastifyRequest) => Problem
}

/** The web pages: the operations of the interface, as people read and use them. */
export function mountConsole(app: FastifyInstance, options: ConsoleOptions): void {
  const answer = createAnswer(options)
  mountAssets(app)
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string' },
      async (_request: FastifyRequest, body: string) => body,
    )
    for (const url of [PAGES, `${PAGES}/*`])
      scope.route({ method: ['GET', 'POST'], url, handler: (request, reply) => answer(request, reply) })
  })
}

type AnswerPage = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

function createAnswer({ instance, admit, operations, faultOf, checkAnswers }: ConsoleOptions): AnswerPage {
  const askOf = createAsk(instance, createCalls(operations, { instance, checkAnswers }))
  const find = createRouter(routes)

  /** Finds the page and lets it answer. Throws the Problem of an address without one, and of a form that is not ours. */
  async function replyTo(ask: Ask, request: FastifyRequest, isHeld: boolean): Promise<[Ask, Reply]> {
    const found = find(request.method === 'HEAD' ? 'GET' : request.method, ask.pathname)
    if (found === undefined) throw noRoute()
    const isOwn = isHeld && isOwnForm(request.headers, ask.form.get('csrf') ?? '', ask.csrf)
    if (request.method === 'POST' && !isOwn)
      throw forbidden('the form is no longer valid; load the page again')
    const placed = { ...ask, at: found.at }
    return [placed, await found.page(placed)]
  }

  return async (request, reply) => {
    const { ask, isHeld, cookie } = await askOf(request)
    request.actor = ask.viewer?.actor ?? null
    if (cookie !== undefined) reply.header('set-cookie', cookie)
    try {
      reply.headers(await admit(request.actor, request.ip))
      const [placed, view] = await replyTo(ask, request, isHeld)
      return send(placed, reply, view)
    } catch (error) {
      if (error instanceof Moved) return send(ask, reply, await addressAfterMove(ask, error))
      const problem = error instanceof Problem ? error : faultOf(error as FastifyError, request)
      reply.headers(problem.headers)
      return send(ask, reply, refusalView(ask, problem))
    }
  }
}

interface Asked {
  readonly ask: Ask
  /** Whether the browser came with the secret of which its proof is made. */
  readonly isHeld: boolean
  readonly cookie: string | undefined
}

/** Makes the function that reads a request: whose it is, and what it asks for. */
function createAsk(
  instance: Instance,
  callsOf: ReturnType<typeof createCalls>,
): (request: FastifyRequest) => Promise<Asked> {
  const { db, config } = instance
  const cookies = createCookies(config.url)
  const viewerOf = async (secret: string | undefined): Promise<Viewer | null> => {
    const session = secret === undefined ? undefined : await findSession(db, secret)
    if (session === undefined) return null
    const actor = actorOf(await enter(db, 'user_id', session.user_id, undefined))
    return actor && { actor, sessionId: session.id, tokenId: session.token_id }
  }
  return async (request) => {
    const { headers, body, ip } = request
    const { pathname, searchParams: query } = new URL(originalUrl(request), 'http://own.invalid')
    const secret = cookies.read(headers, SESSION)
    const viewer = await viewerOf(secret)
    const held = viewer === null ? cookies.read(headers, VISIT) : secret
    const proof = held ?? randomBytes(24).toString('base64url')
    const ask: Ask = {
      instance,
      call: callsOf(viewer?.actor.id ?? null),
      viewer,
      at: {},
      query,
      form: new URLSearchParams(typeof body === 'string' ? body : ''),
      pathname,
      csrf: csrfOf(proof),
      ip,
      userAgent: headers['user-agent'] ?? '',
      now: new Date(),
    }
    // Only the form of the sign-in needs a proof before there is a session.
    const isFirst = held === undefined && pathname === '/users/sign_in'
    return { ask, isHeld: held !== undefined, cookie: isFirst ? cookies.write(VISIT, proof) : undefined }
  }
}

/** The same page of a project that has another path now. */
async function addressAfterMove({ call, pathname }: Ask, { id }: Moved): Promise<Reply> {
  const project = await call.one<Project>('getProject', { id })
  const rest = pathname.split('/-/').slice(1).join('/-/')
  return { to: of(project) + (rest === '' ? '' : `/-/${rest}`) }
}

async function send(ask: Ask, reply: FastifyReply, view: Reply): Promise<FastifyReply> {
  reply.headers(HEADERS)
  if ('to' in view) {
    if (view.cookies !== undefined) reply.header('set-cookie', [...view.cookies])
    return reply.redirect(view.to, 303)
  }
  if ('body' in view)
    return reply
      .headers({ ...view.headers, 'content-type': view.type, 'content-security-policy': FILE_POLICY })
      .send(view.body)
  return reply
    .code(view.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(layout(ask, view).text)
}

/** The address as the browser sent it, without a server's name. */
const originalUrl = ({ originalUrl: url }: FastifyRequest): string =>
  url.replace(/^\w+:\/\/[^/?#]*\/?/, '/').replace(/^\/\/+/, '/')
