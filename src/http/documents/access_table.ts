import { inOrder } from './openapi.ts'
import { gatesOf, type NamedOperation } from '../operation.ts'

/** Access by operation: one row each, for people. */
export function accessTable(operations: readonly NamedOperation[]): string {
  const rows = inOrder(operations).map(
    (op) =>
      `| ${op.method} | \`${op.path}\` | ${gatesOf(op)
        .map((gate) => `${gate.says} (${gate.refuses().status})`)
        .join(', ')} |`,
  )
  return [
    '# Who may call what',
    '',
    'Gates in the order they are passed, each with the status of its refusal.',
    '',
    '| Method | Path | Passes |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}
