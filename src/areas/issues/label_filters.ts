import { titlesOf } from '../../core/labelling.ts'
import { word, type Gathered } from './gathered.ts'
import type { Known } from './names_store.ts'

// Which labels an issue must bear, and which of them is looked for first.

/** What so few bear is looked through in no time. */
const LITTLE = 2_000
/** To walk past so many costs as much as one look. */
const FAR = 12

interface Rarity {
  readonly uses: number
  /** The newest of them in a second. */
  readonly density: number
}
const rarityOf = ({ uses, since }: Known['labels'][number]): Rarity => ({
  uses: Math.min(uses, LITTLE),
  density: uses / Math.max(1, Date.now() / 1000 - (since ?? 0)),
})
const UNUSED: Rarity = { uses: 0, density: 0 }

/** `known` is undefined where issues are of many projects. */
export function labels(
  found: Gathered,
  given: readonly string[] | undefined,
  known: Known | undefined,
): void {
  if (given === undefined || given.length === 0) return
  const all = given.length === 1 ? word(given[0]) : undefined
  const titles = titlesOf(given)
  const idsOf = (title: string): number[] =>
    (known?.labels ?? []).filter((label) => label.title === title).map(({ id }) => id)
  const unique = titles.flatMap((title) => (idsOf(title).length === 1 ? idsOf(title) : []))
  const rarities = new Map((known?.labels ?? []).map((label) => [label.id, rarityOf(label)]))
  const rarity = (id: number): Rarity => rarities.get(id) ?? UNUSED
  // The rarest leads: what bears it is looked at for the others.
  const [id, second, ...more] = unique.toSorted(
    (a, b) => rarity(a).uses - rarity(b).uses || rarity(a).density - rarity(b).density,
  )
  if (all !== undefined) found.is(all === 'any' ? 'labelled' : 'unlabelled')
  else if (known !== undefined && titles.some((title) => idsOf(title).length === 0)) found.is('nothing')
  else if (titles.length === 1 && id === undefined) found.where('titled', titles[0])
  else if (id === undefined || unique.length < titles.length) {
    found.where('labels', titles)
    if (known === undefined) found.where('titled', titles[0])
  } else {
    found.where('label', id)
    if (second !== undefined) {
      const near = rarity(second).density < rarity(id).density * FAR
      found.values.second_label = second
      found.is(rarity(id).uses === LITTLE && near ? 'common_label' : 'second_label')
    }
    if (more.length > 0) found.where('more_labels', more)
  }
}
