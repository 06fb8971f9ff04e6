/** The attributes that the records of a list must have, as JSON; undefined where none filter. Only administrators filter by them. */
export function attributeFilter(
  actor: { readonly admin: boolean } | null,
  given: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  if (actor?.admin !== true || given === undefined) return undefined
  const wanted = Object.entries(given).map(([key, value]) => [key, String(value)])
  return wanted.length === 0 ? undefined : JSON.stringify(Object.fromEntries(wanted))
}
