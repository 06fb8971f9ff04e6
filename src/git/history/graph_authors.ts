const maxCharacters = 16 * 1024 * 1024

/** The texts of a repository's authors, each once and numbered; only ever added to. */
export class AuthorTexts {
  readonly #texts: string[] = []
  readonly #numbers = new Map<string, number>()
  #characters = 0

  /** True for a history with so many different authors that no table of them is kept. */
  get isFull(): boolean {
    return this.#characters > maxCharacters
  }

  /** The number of a text. */
  number(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const number = this.#texts.length
    this.#texts.push(text)
    this.#numbers.set(text, number)
    this.#characters += text.length + 100
    return number
  }

  text(number: number): string {
    return this.#texts[number] ?? ''
  }
}

/** Finds authors whose `Name <email>` holds a text, either case; decides about each author once. */
export class AuthorFilter {
  readonly #texts: AuthorTexts
  readonly #pattern: RegExp
  readonly #decided: boolean[] = []

  constructor(texts: AuthorTexts, wanted: string) {
    this.#texts = texts
    // With `u`, letters are folded one by one as git's search does, and not by the longer rules of toLowerCase.
    this.#pattern = new RegExp(wanted.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`), 'iu')
  }

  accepts(number: number): boolean {
    const decided = (this.#decided[number] ??= this.#pattern.test(this.#texts.text(number)))
    return decided
  }
}
