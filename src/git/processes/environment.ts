/** The environment of every git process: nothing of the server's own environment but PATH reaches it. */
export function gitEnvironment(path: string): Record<string, string> {
  return {
    PATH: path,
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    // A read must never reach the network, not even for a repository that says it is a partial clone.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_OPTIONAL_LOCKS: '0',
  }
}

const fixedConfiguration = [
  'core.hooksPath=/dev/null',
  'core.attributesFile=/dev/null',
  'core.fsmonitor=false',
  'core.warnAmbiguousRefs=false',
  'core.askPass=',
  'credential.helper=',
  'gc.auto=0',
  'maintenance.auto=false',
  'diff.renames=true',
  'diff.algorithm=default',
  'core.fsync=committed,reference',
]

/**
 * The arguments that stand before the name of a git command. `--git-dir` is given explicitly because git then trusts
 * the directory whoever owns it, and never searches parent directories for another repository.
 */
export function globalArguments(gitDirectory: string | undefined): string[] {
  const args = fixedConfiguration.flatMap((setting) => ['-c', setting])
  if (gitDirectory !== undefined) args.push(`--git-dir=${gitDirectory}`)
  return args
}
