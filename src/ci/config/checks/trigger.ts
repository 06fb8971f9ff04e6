import * as f from '../faults.ts'
import { isHash, isList, type Hash, type Tree } from '../yaml/tree.ts'

const MAX_INCLUDES = 3
const forward = f.hash({ yaml_variables: f.bool, pipeline_variables: f.bool })
const string = f.attribute(f.isString, 'should be a string')
const strategy = f.oneOf(['depend', 'mirror'], 'should be depend or mirror')
const crossHash = f.hash({ project: string, branch: string, strategy, forward })

const includeHash = f.hash({
  local: string,
  project: string,
  file: f.attribute(
    (value) => f.isString(value) || (f.isStrings(value) && value.length > 0),
    'should be an array of strings or a string',
  ),
  ref: string,
  artifact: string,
  job: string,
})
/** The files of a child pipeline; those of the network and of other products are refused. */
const include: f.Check = (at, value) => {
  const items: readonly Tree[] = isList(value) ? value : [value]
  if (items.length > MAX_INCLUDES) f.report(at, `is too long (maximum is ${MAX_INCLUDES})`)
  for (const item of items) {
    if (f.isString(item)) continue
    if (!isHash(item)) f.report(at, 'should be a string or a hash')
    else checkItem(at, item)
  }
}
function checkItem(at: f.At, item: Hash): void {
  includeHash(at, item)
  if (!('local' in item) && !('project' in item) && !('artifact' in item))
    f.report(at, 'must specify the file where to fetch the config from')
  if ('artifact' in item && !('job' in item))
    f.report(at, 'must specify the job where to fetch the artifact from')
  if ('project' in item && !('file' in item))
    f.report(at, 'must specify the file where to fetch the config from')
}
const childHash = f.hash({ include, strategy, forward })

/** `trigger` of a bridge. */
export const checkTrigger: f.Check = (at, value) => {
  if (f.isString(value)) {
    if (value === '') f.report(at, "can't be blank")
  } else if (!isHash(value)) at.faults.add(`${at.path} has to be either a string or a hash`.toLowerCase())
  else if ('include' in value) childHash(at, value)
  else if ('project' in value) crossHash(at, value)
  else f.report(at, 'must specify either project or include')
}
