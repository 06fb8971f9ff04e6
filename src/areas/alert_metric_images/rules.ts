import { isLonger, tooLong } from '../../core/values/lengths.ts'

/** Bytes of an image. */
export const MAX_BYTES = 1024 * 1024

/** Extensions of images, with the type that each is served as. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  ico: 'image/x-icon',
  webp: 'image/webp',
}

/** The type of a file by its extension; undefined for what is no image. */
export const imageType = (filename: string): string | undefined => {
  const extension = /\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined
}

/** A file name as it is kept: without folders, and with the characters that stand in an address as they are. */
export const storedName = (given: string): string => {
  const name = given.split(/[/\\]/).at(-1) ?? ''
  const safe = Array.from(name.replaceAll(/[^\p{L}\p{N}_.+-]/gu, '_'))
  return safe.slice(-200).join('')
}

const MAX_CHARACTERS = { url: 255, url_text: 128 }

export interface Link {
  readonly url?: string | null
  readonly url_text?: string | null
}

/** Why a link will not do, in the published words; undefined when it will. */
export function linkFault({ url, url_text }: Link): string | undefined {
  if (url && isLonger(url, MAX_CHARACTERS.url)) return `Url ${tooLong(MAX_CHARACTERS.url)}`
  if (url && !isWebAddress(url)) return 'Url is blocked: Only allowed schemes are http, https'
  if (url_text && isLonger(url_text, MAX_CHARACTERS.url_text))
    return `Url text ${tooLong(MAX_CHARACTERS.url_text)}`
  return undefined
}

const isWebAddress = (url: string): boolean =>
  /^https?:\/\//i.test(url) && URL.canParse(url) && !/[\s\p{Cc}]/u.test(url)
