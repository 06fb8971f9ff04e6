import { Problem } from '../../http/problems.ts'
import { namingLimit, type Words } from './refusals.ts'

// npm prints the text under `error` only, so refusals of this registry carry it twice, as published.

const both = (status: number, text: string, headers?: Record<string, string>): Problem =>
  new Problem(status, { message: text, error: text }, headers)

export const npmRefused = (text: string): Problem => both(400, text)
export const npmInvalid = (text: string): Problem => both(400, `Validation failed: ${text}`)
export const alreadyExists = (): Problem => both(403, 'Package already exists.')
export const npmProtected = (): Problem => both(403, 'Package protected.')
/** `limit` is the bytes that a tarball may have. */
export const npmTooLarge = (limit = 0): Problem => both(400, 'File is too large.', namingLimit('npm', limit))
/** `404 Package Not Found`. */
export const npmNotFound = (thing: string): Problem =>
  new Problem(404, { message: `404 ${thing} Not Found`, error: `${thing} not found` })
export const noPackages = (): Problem => npmNotFound('Packages')
export const noPackage = (): Problem => npmNotFound('Package')
/** A part of the request is blank. */
export const notGiven = (part: string): Problem =>
  new Problem(400, { message: `400 Bad request - "${part}" not given`, error: `"${part}" not given` })

export const NPM_WORDS: Words = { tooLarge: npmTooLarge, isProtected: npmProtected, because: npmRefused }
