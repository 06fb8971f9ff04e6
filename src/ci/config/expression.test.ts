import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readExpression } from './expression.ts'

const VARIABLES = new Map(
  Object.entries({
    P: 'my variable',
    A: 'a/path/variable/value',
    F: '/a/full/path/variable/value',
    E: '',
    s: 'abcde',
    re: '/^ab.*/',
    BAD: '/(/',
    NESTED: '$P',
    BLANK: '  ',
  }),
)
const holds = (text: string): boolean | null =>
  readExpression(text)?.holds((name) => VARIABLES.get(name)) ?? null

// The published truth table; U is not defined.
const TABLE: readonly (readonly [string, boolean])[] = [
  ['$P == "my variable"', true],
  ['"my variable" == $P', true],
  ['$P == null', false],
  ['$E == null', false],
  ['"" == $E', true],
  ['$E', false],
  ['$U == null', true],
  ['$U', false],
  ['$P', true],
  ['$P =~ /var.*e$/', true],
  ['$P =~ /^var.*/', false],
  ['$P =~ /VAR.*/i', true],
  ['$E =~ /var.*/', false],
  ['$U =~ /var.*/', false],
  ['$U !~ /var.*/', true],
  ['$A =~ /path\\/variable/', true],
  ['$F =~ /^\\/a\\/full\\/path\\/variable\\/value$/', true],
  ['$P != null', true],
  ['$E != null', true],
  ['$U != null', false],
  ['$P && $E', false],
  ['$E && $P', true],
  ['null && $P', false],
  ['$P && null || $E == ""', true],
  ['$U || $P', true],
  ['$E == "" && $P != "nope"', true],
  ['("string" || "test") == "string"', true],
  ['("string" == ("test" || "string"))', false],
  ['"string" == "test" || "string"', true],
  ['$s =~ "abcde"', true],
  ['$s =~ $re', true],
  ['$P =~ $U', false],
  ['$U == ""', false],
  ['$P !~ $U', true],
  ['$NESTED == "$P"', true],
  ['$BLANK', false],
  ["$P == 'my variable'", true],
  ['!$U', true],
  ['!($P == "x") && $P', true],
  ['true', true],
  ['false || null', false],
  ['$s =~ $BAD', false],
  ['$P!~/x/', true],
]

test('expressions have the published truth', () => {
  for (const [text, expected] of TABLE) assert.equal(holds(text), expected, text)
})

test('a syntax fault is no expression', () => {
  const bad = [
    '$INVALID = 1',
    '$A $B',
    '(',
    ')',
    '($P',
    '$P)',
    '==',
    '$P ==',
    '== $P',
    '$P &&',
    '',
    '$',
    '${P}',
    '"x',
  ]
  const worse = ['/(/', '$P =~ /[/', '$P =~ /a(?=b)/', '$P =~ //', 'nullable', '! ', '$P & $P', '`x`', '()']
  for (const text of [...bad, ...worse]) assert.equal(holds(text), null, text)
})

test('an expression has at most 100 tokens, in any form', () => {
  assert.equal(holds(Array(50).fill('$P').join(' && ')), true)
  assert.equal(holds(Array(51).fill('$P').join(' && ')), null)
  assert.equal(holds(`${'('.repeat(60)}$P${')'.repeat(60)}`), null)
  assert.equal(holds('!'.repeat(1_000_000)), null)
})

test('a pattern that other engines take for ever on is searched in linear time', () => {
  const evil = readExpression('$x =~ /^(a+)+$/')
  assert.equal(
    evil?.holds(() => `${'a'.repeat(10_000)}!`),
    false,
  )
  assert.equal(readExpression(`$x =~ /${'a'.repeat(2_001)}/`), null)
})
