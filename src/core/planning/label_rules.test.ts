import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cleanTitle,
  hexColor,
  lastOfScopes,
  renderLine,
  scopeOf,
  textColor,
  titleFaults,
} from './label_rules.ts'

test('a colour is a CSS name or hex digits, and comes out as six upper-case ones', () => {
  const rows: [string, string][] = [
    ['#FFAABB', '#FFAABB'],
    ['#ffaabb', '#FFAABB'],
    ['#fab', '#FFAABB'],
    ['#1a9', '#11AA99'],
    ['#000', '#000000'],
    [' #ffaabb\n', '#FFAABB'],
    ['red', '#FF0000'],
    ['RED', '#FF0000'],
    ['orange', '#FFA500'],
    ['lime', '#00FF00'],
    ['green', '#008000'],
    ['black', '#000000'],
    ['RebeccaPurple', '#663399'],
    ['lightgoldenrodyellow', '#FAFAD2'],
    ['grey', '#808080'],
    ['gray', '#808080'],
  ]
  for (const [given, hex] of rows) assert.equal(hexColor(given), hex, given)
})

test('anything else is no colour', () => {
  const digits = '# #f #ff #ffff #fffff #fffffff #ffffffff ffaabb ##ffaabb #ggaabb #ffaabb; １２３ #ＦＦＦ'
  const words = 'redd rgb(255,0,0) transparent inherit constructor __proto__ toString hasOwnProperty'
  for (const given of ['', ' ', '#ffaab ', 're d', '#fff\n#fff', ...digits.split(' '), ...words.split(' ')])
    assert.equal(hexColor(given), undefined, JSON.stringify(given))
})

test('a light colour carries dark text, and any other white text', () => {
  const rows: [string, string][] = [
    ['#FFFFFF', '#333333'],
    ['#000000', '#FFFFFF'],
    ['#FFA500', '#FFFFFF'],
    ['#FFF500', '#FFFFFF'],
    ['#FFF501', '#333333'],
    ['#01F5FF', '#333333'],
    ['#00F5FF', '#FFFFFF'],
    ['#A7A7A7', '#333333'],
    ['#A7A7A6', '#FFFFFF'],
  ]
  for (const [color, text] of rows) assert.equal(textColor(color), text, color)
})

test('a title is stored without tags and without blanks around it', () => {
  const rows: [string, string][] = [
    ['bug', 'bug'],
    ['  bug fix \n', 'bug fix'],
    ['<b>bug</b>', 'bug'],
    ['bug <img src=x onerror=alert(1)>', 'bug'],
    ['<script>alert(1)</script>', 'alert(1)'],
    ['<<b>script>x', 'x'],
    ['<!-- no -->yes', 'yes'],
    ['a < b', 'a < b'],
    ['a > b', 'a > b'],
    ['a < b > c', 'a < b > c'],
    ['1<2', '1<2'],
    ['R&D', 'R&D'],
    ['priority::1', 'priority::1'],
    ['<b>', ''],
    [' ', ''],
  ]
  for (const [given, stored] of rows) assert.equal(cleanTitle(given), stored, given)
})

test('a title of nothing but opening brackets is cleaned without delay', () => {
  assert.equal(cleanTitle('<'.repeat(100_000)).length, 100_000)
  assert.equal(cleanTitle('<a'.repeat(50_000)).length, 100_000)
  assert.equal(cleanTitle('<a>'.repeat(2_000_000)).length, 6_000_000, 'nor looked at where it is no title')
})

test('a title is there, has no comma and is no longer than 255 signs', () => {
  const long = 'is too long (maximum is 255 characters)'
  const rows: [string, string[]][] = [
    ['bug', []],
    ['R&D: a.b/c ? #1 ~x "y"', []],
    ['x'.repeat(255), []],
    ['😀'.repeat(255), []],
    ['', ["can't be blank", 'is invalid']],
    ['a,b', ['is invalid']],
    [',', ['is invalid']],
    ['x'.repeat(256), [long]],
    ['😀'.repeat(256), [long]],
    [`${'x'.repeat(255)},`, ['is invalid', long]],
  ]
  for (const [title, faults] of rows) assert.deepEqual(titleFaults(title), faults, title)
})

test('a scope is all before the last pair of colons, and of one scope the title named last stays', () => {
  const scopes: [string, string | undefined][] = [
    ['w::a', 'w::'],
    ['w::a::1', 'w::a::'],
    ['w:::a', 'w:::'],
    ['::a', '::'],
    ['w::', 'w::'],
    ['w:a', undefined],
    ['w', undefined],
  ]
  for (const [title, scope] of scopes) assert.equal(scopeOf(title), scope, title)
  const rows: [string, string][] = [
    ['w::a w::b', 'w::b'],
    ['w::b w::a w::b', 'w::b'],
    ['w w::a v::a w::a::1 w::a::2 w:a w:b', 'w w::a v::a w::a::2 w:a w:b'],
    ['W::a w::b', 'W::a w::b'],
  ]
  for (const [given, left] of rows) assert.deepEqual(lastOfScopes(given.split(' ')), left.split(' '), given)
})

test('a description becomes one line of HTML in which its own HTML is text', () => {
  const rows: [string, string][] = [
    ['', ''],
    ['A plain line.', 'A plain line.'],
    ["it's 100% (or so): a/b, c; d? #1 = +2 -3", "it's 100% (or so): a/b, c; d? #1 = +2 -3"],
    ['Grüße 日本', 'Grüße 日本'],
    ['<b>x</b>', '&lt;b&gt;x&lt;/b&gt;'],
    ['<script>alert("1")</script>', '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;'],
    ['R&D', 'R&amp;D'],
    ['&lt;b&gt;', '&lt;b&gt;'],
    ['**strong** and *weak*', '<strong>strong</strong> and <em>weak</em>'],
    ['`a < b`', '<code>a &lt; b</code>'],
    ['[x](https://example.com/?a=1&b=2)', '<a href="https://example.com/?a=1&amp;b=2">x</a>'],
    ['[x](javascript:alert(1))', '[x](javascript:alert(1))'],
    ['[x](data:text/html,y)', '[x](data:text/html,y)'],
    ['[x](" onclick="y")', '[x](&quot; onclick=&quot;y&quot;)'],
    ['![x](https://example.com/a.png "t")', '<img src="https://example.com/a.png" alt="x" title="t">'],
    ['https://example.com', 'https://example.com'],
    ['# no heading', '# no heading'],
    ['two\nlines', 'two\nlines'],
    [`**${'!['.repeat(497)}**`, `<strong>${'!['.repeat(497)}</strong>`],
    [`**${'!['.repeat(4_998)}**`, `**${'!['.repeat(4_998)}**`],
    ['<'.repeat(1_001), '&lt;'.repeat(1_001)],
  ]
  for (const [given, html] of rows) assert.equal(renderLine(given), html, given)
})
