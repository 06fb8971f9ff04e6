import { Type as t } from 'typebox'
import { invalid } from '../../http/problems.ts'
import { badgeFaults } from './rules.ts'

const url = t.String({ maxLength: 2_048, description: 'With `%{project_path}` and the like' })
const name = t.Optional(t.String({ maxLength: 255 }))

export const listParams = t.Object({ name: t.Optional(t.String({ description: 'The whole name' })) })
export const newParams = t.Object({ link_url: url, image_url: url, name })
export const changeParams = t.Object({ link_url: t.Optional(url), image_url: t.Optional(url), name })
export const previewParams = t.Object({ link_url: url, image_url: url })

export interface Given {
  readonly link_url?: string
  readonly image_url?: string
}

/** The addresses as they are kept, without blanks around them. Throws 400 for what is no address of the web. */
export function checkUrls<G extends Given>(given: G): G {
  const clean = {
    ...given,
    ...(given.link_url !== undefined && { link_url: given.link_url.trim() }),
    ...(given.image_url !== undefined && { image_url: given.image_url.trim() }),
  }
  const faults = badgeFaults(clean)
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return clean
}
