// Texts of a million signs, written to be hard to read.

const SIGNS = 1_000_000

const full = (part: string): string => part.repeat(Math.ceil(SIGNS / part.length)).slice(0, SIGNS)
/** One that opens what it never closes, and one that closes what it never opened. */
const around = (open: string, close: string): string =>
  open.repeat(SIGNS / 2 / open.length) + close.repeat(SIGNS / 2 / close.length)
const steps = (sign: string): string => Array.from({ length: 1_400 }, (_, i) => sign.repeat(i + 1)).join(' ')

/** By what is hard about them. */
export const TEXTS: Readonly<Record<string, string>> = {
  'plain words': full('word '),
  'six million signs': full('words ').repeat(6),
  'one long word': full('a'),
  blanks: `${full(' ').slice(1)}x`,
  'empty lines': `x${full('\n').slice(1)}x`,
  'quotes in quotes': full('> '),
  'a quote of every depth': full(`${'>'.repeat(999)}\n`),
  'fences never closed': full('```\n'),
  'quoting fences': full('>>>\n'),
  'backticks of every length': steps('`'),
  backticks: full('` `` '),
  brackets: around('[', ']'),
  'brackets in links': full('[a]('),
  'images in links': full('[![a](b)]('),
  'references to links': full('[a][b]\n'),
  emphasis: full('*a_ **b__ '),
  'stars of every length': steps('*'),
  strokes: full('a~~b~'),
  tables: full('| a |\n|---|\n'),
  'a wide table': `${full('|a').slice(0, 499_000)}\n${full('|-').slice(0, 499_000)}`,
  'lists in lists': full('- '),
  'boxes to tick': full('- [ ] a\n'),
  'boxes that are none': full('> \t- ['),
  'tags opened': full('<a '),
  tags: around('<b>', '</b>'),
  'comments in tags': full('<!-- '),
  entities: full('&amp;#x41;'),
  mentions: full('@a '),
  'mentions of many': Array.from({ length: 100_000 }, (_, i) => `@u${i} `).join(''),
  'at signs': full('@'),
  'mentions of depth': full(`@a${'/.-'.repeat(1_700)} `),
  'mentions that end in dots': full(`@a${`/${'.'.repeat(254)}`.repeat(20)}/b `),
  references: full('#1 '),
  'references to many': Array.from({ length: 100_000 }, (_, i) => `#${i} !${i} `)
    .join('')
    .slice(0, SIGNS),
  'references in paths': full('a/b#1 '),
  hashes: full('#'),
  'paths before hashes': full(`${'a/'.repeat(200)}#`),
  paths: full('a/b.c-'),
  'what closes issues': full('closes #1, '),
  'what closes and does not': full('closes a.a.'),
  'what closes many': `closes ${full('issues #1, ').slice(10)}`,
  'and and and': full('fixes #1    ,    and '),
  emoji: full(':a:'),
  colons: full(':'),
  'unknown commands': full('/what is this\n'),
  commands: full('/close\n/reopen\n'),
  labels: full('/label ~a ~b\n'),
  'a command of many labels': `/label ${full('~a ')}`.slice(0, SIGNS),
  'a command of open quotes': `/label ${full('~"')}`.slice(0, SIGNS),
  'a command of many names': `/assign ${full('@a ')}`.slice(0, SIGNS),
  'a hundred commands of names': full(
    `/assign ${Array.from({ length: 900 }, (_, i) => `@u${i}`).join(' ')}\n`,
  ),
  'a command of blanks': `/spend 1h${' '.repeat(SIGNS - 11)}x`,
  'a command of tabs': `/estimate${'\t'.repeat(SIGNS - 10)}x`,
  'a title of tags': `/title ${full('<')}`.slice(0, SIGNS),
  'a milestone of quotes': `/milestone ${full('"')}`.slice(0, SIGNS),
  slashes: full('/'),
  commas: full(','),
  'words between commas': full('a,'),
  'lines that end in return': full('/a\r'),
  'line ends of other kinds': full('/close \u2028'),
  'signs of two halves': full('\u{1F600}'),
  'marks on marks': `a${full('\u0301')}`.slice(0, SIGNS),
  'right to left': full('\u202E\u0627'),
  'signs without width': full('\u200B\u200D'),
  'many letters': Array.from({ length: SIGNS }, (_, i) => String.fromCodePoint(0x4e00 + (i % 20_000))).join(
    '',
  ),
}
