/** Names as the registries take them, in the published alphabets. */

export const isGenericName = (name: string): boolean => /^[A-Za-z0-9._\-+]{1,255}$/.test(name)
export const isGenericVersion = (version: string): boolean =>
  /^[\w+.-]{1,255}$/.test(version) && !version.includes('..')

const isFileName = (name: string): boolean =>
  /^[A-Za-z0-9._\-+~@]{1,255}$/.test(name) && !/^[~@]|[~@]$/.test(name)

/** A file of a generic package may stand below folders: the path is kept as one percent-encoded name, as published. */
export function genericFileName(path: string): { readonly stored: string } | 'traversal' | 'invalid' {
  const parts = path.split('/')
  if (parts.some((part) => part === '..' || part === '.' || part === '')) return 'traversal'
  return parts.every(isFileName) ? { stored: path.replaceAll('/', '%2F') } : 'invalid'
}
