import type { Problem } from '../problems.ts'

/** RFC 9457 form of any refusal, for callers whose `Accept` names `application/problem+json`. */
export function problemDetails(problem: Problem, instance: string): Record<string, unknown> {
  const { error: code, error_description: description, message: text } = problem.body
  const detail = description ?? code ?? text
  return {
    type: 'about:blank',
    title: titles[problem.status] ?? 'Error',
    status: problem.status,
    ...(typeof detail === 'string' ? { detail } : { errors: detail }),
    instance,
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}

const ASKED = /application\/problem\+json(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i
/** Whether an `Accept` asks for problem details: by name, and not to say that they will not do. */
export const wantsDetails = (accept = ''): boolean => ASKED.test(accept)
