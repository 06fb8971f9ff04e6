/** The addresses that a parameter holds, each once, whatever its letters: given apart or with commas, or both. */
export function addressesIn(given: readonly string[] = []): string[] {
  const found = new Map<string, string>()
  for (const email of given.flatMap((part) => part.split(',')).map((part) => part.trim()))
    if (email !== '' && !found.has(email.toLowerCase())) found.set(email.toLowerCase(), email)
  return [...found.values()]
}

/** Whether mail could go there: one address, and nothing that a mail program would take for more. */
export const isAddress = (text: string): boolean =>
  text.length <= 254 && /^[^\s@<>,;:"()[\]\\\p{C}]+@[^\s@<>,;:"()[\]\\\p{C}]+$/u.test(text)
