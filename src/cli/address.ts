import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atUrl, type Config } from '../config.ts'

// The address of the server that runs on a data directory, for commands in a shell without its settings.

const fileIn = (dataDir: string): string => join(dataDir, 'address')

/** Writes the address of this server down. Returns what takes it away again. */
export function writeAddress({ dataDir, url }: Config): () => void {
  const file = fileIn(dataDir)
  writeFileSync(file, `${url}\n`, { mode: 0o600 })
  return () => rmSync(file, { force: true })
}

/** The configuration with the address of the running server, unless GUILDHALL_URL names one. */
export function withAddress(config: Config): Config {
  if (config.urlGiven) return config
  try {
    const url = readFileSync(fileIn(config.dataDir), 'utf8').trim()
    return URL.canParse(url) ? atUrl(config, url) : config
  } catch {
    return config
  }
}
