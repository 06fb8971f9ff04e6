/** Limits that the operating system enforces on one process, and on each of its children. */
export interface Bounds {
  /** Bytes of memory that is neither shared nor a file. */
  readonly memoryBytes: number
  /** Seconds of processor time. */
  readonly cpuSeconds: number
}

/** A program and its arguments. */
export type Program = [binary: string, args: readonly string[]]

// A shell sets the limits and becomes the program: Node cannot set them. What a system does not know is left out.
const limited = 'ulimit -d "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec "$@"'

/** The command that runs a program within bounds, or as it is without any. */
export function commandOf(
  [binary, args]: Program,
  bounds: Bounds | undefined,
): { readonly binary: string; readonly args: readonly string[] } {
  if (bounds === undefined) return { binary, args }
  const kibibytes = String(Math.ceil(bounds.memoryBytes / 1024))
  return {
    binary: '/bin/sh',
    args: ['-c', limited, 'sh', kibibytes, String(bounds.cpuSeconds), binary, ...args],
  }
}
