import type { ConditionName, FilterValues } from './conditions.ts'

/** Conditions with what they compare with, as they gather. */
export class FilterBuilder {
  readonly conditions: ConditionName[] = []
  readonly values: { -readonly [Name in keyof FilterValues]?: FilterValues[Name] } = {}
  /** The condition holds. */
  flag(name: ConditionName): void {
    this.conditions.push(name)
  }
  /** The condition holds for the value under its name, where one is given. */
  value<Name extends ConditionName & keyof FilterValues>(
    name: Name,
    value: FilterValues[Name] | undefined,
  ): void {
    if (value === undefined) return
    this.conditions.push(name)
    this.values[name] = value
  }
}

/** The words that stand for no value, and for any. */
export const word = (text: string | undefined): 'none' | 'any' | undefined => {
  const lower = text?.toLowerCase()
  return lower === 'none' || lower === 'any' ? lower : undefined
}
