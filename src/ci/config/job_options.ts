import { isString } from './faults.ts'
import type { ArtifactsOption, CacheOption, ImageOption, JobOptions } from './options.ts'
import { flatten, isHash, isList, newHash, type Hash, type Tree } from './yaml/tree.ts'

const texts = (value: Tree | undefined): string[] => flatten(value).map(String)
const wordOrList = (value: Tree | undefined): readonly string[] | undefined =>
  isString(value) ? [value] : isList(value) ? value.map(String) : undefined

function imageOf(value: Tree | undefined): ImageOption | undefined {
  if (isString(value)) return { name: value }
  if (!isHash(value) || !isString(value['name'])) return undefined
  const lists = Object.fromEntries(
    ['entrypoint', 'command', 'pull_policy'].flatMap((key) => {
      const list = wordOrList(value[key])
      return list === undefined ? [] : [[key, list]]
    }),
  )
  return { ...value, ...lists, name: value['name'] }
}

function artifactsOf(value: Tree | undefined): ArtifactsOption | undefined {
  if (!isHash(value)) return undefined
  const { reports } = value
  if (!isHash(reports)) return { ...value }
  const lists = Object.entries(reports).map(([kind, paths]) => [kind, isString(paths) ? [paths] : paths])
  return {
    ...value,
    reports: Object.fromEntries(lists) as Readonly<Record<string, unknown>>,
  }
}

function cachesOf(value: Tree | undefined): CacheOption[] | undefined {
  if (value === undefined || value === null) return undefined
  return (isList(value) ? value : [value]).filter(isHash).map((cache) => {
    const { key } = cache
    return { ...cache, ...(typeof key === 'number' && { key: String(key) }) }
  })
}

const DEFAULT_PUBLISH = 'public'
function publishOf({ pages, publish }: Hash): string | undefined {
  if (pages === undefined || pages === false || pages === null) return undefined
  if (isHash(pages) && isString(pages['publish'])) return pages['publish']
  return isString(publish) ? publish : DEFAULT_PUBLISH
}

const hooksOf = (value: Tree | undefined): JobOptions['hooks'] =>
  isHash(value) ? { pre_get_sources_script: texts(value['pre_get_sources_script']) } : undefined

/** The part of a checked job that the runner receives. */
export function optionsOf(job: Hash): JobOptions {
  const given = {
    script: job['script'] === undefined ? undefined : texts(job['script']),
    before_script: job['before_script'] === undefined ? undefined : texts(job['before_script']),
    after_script: job['after_script'] === undefined ? undefined : texts(job['after_script']),
    image: imageOf(job['image']),
    services: isList(job['services']) ? job['services'].flatMap((each) => imageOf(each) ?? []) : undefined,
    artifacts: artifactsOf(job['artifacts']),
    cache: cachesOf(job['cache']),
    hooks: hooksOf(job['hooks']),
    release: isHash(job['release']) ? { ...job['release'] } : undefined,
    id_tokens: isHash(job['id_tokens']) ? { ...job['id_tokens'] } : undefined,
    secrets: isHash(job['secrets']) ? { ...job['secrets'] } : undefined,
    identity: isString(job['identity']) ? job['identity'] : undefined,
    publish: publishOf(job),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** A job with the keywords of `default` that it lacks and inherits; hashes are taken whole, never merged. */
export function withDefaults(job: Hash, defaults: Hash, inherit: Tree | undefined): Hash {
  if (inherit === false) return job
  const merged = newHash()
  for (const [key, value] of Object.entries(defaults))
    if (!isList(inherit) || inherit.includes(key)) merged[key] = value
  for (const [key, value] of Object.entries(job)) if (value !== null) merged[key] = value
  return merged
}
