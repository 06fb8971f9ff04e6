import { mayPush, type PushRule } from '../../core/repositories/protected_branches.ts'
import { ROLES } from '../../core/sight/roles.ts'

const MAX_NAME_CHARACTERS = 255

/** Whether a pattern keeps to what takes time in proportion to what it reads: nothing that looks around or back. */
export const isPattern = (text: string): boolean =>
  text.length <= MAX_NAME_CHARACTERS && !/\\[1-9]|\(\?[=!<]|^\*{3}/.test(text)

interface Holder {
  readonly id: number
  readonly role: number
  readonly admin: boolean
}

/** A protected branch goes only by the hand of a Maintainer who may push into it. */
export const mayDelete = (rule: PushRule | undefined, holder: Holder): boolean =>
  mayPush(rule, holder) && (rule === undefined || holder.admin || holder.role >= ROLES.maintainer)
