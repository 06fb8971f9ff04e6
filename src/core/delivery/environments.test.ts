import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environmentNameFaults, environmentSlug, externalUrlFaults, guessTier } from './environments.ts'

test('the tier follows from the name, by the published patterns in their order', () => {
  const tiers = {
    production: 'Production prod prd gprd live PRODUCT-live production-eu',
    staging: 'staging stage stg gstg modl model preprod pre-prod Demo non-prod',
    testing: 'test TEST testing tst integration acceptance acpt QA qa-1 qc control quality-control',
    development: 'dev develop review review/feature-1 trunk dev-prod test-review',
    other: 'eu canary customer-portal 42',
  }
  for (const [tier, names] of Object.entries(tiers))
    for (const name of names.split(' ')) assert.equal(guessTier(name), tier, name)
})

test('a slug fits into a host name, and two names have two', () => {
  assert.equal(environmentSlug('production'), 'production')
  assert.equal(environmentSlug('review-1'), 'review-1')
  const names = [
    'review/1',
    'review-1-',
    'Review-1',
    'review--1',
    '1',
    'a'.repeat(25),
    'ä',
    'review 1',
    '.',
    '-a',
  ]
  const slugs = names.map(environmentSlug)
  for (const slug of slugs) assert.match(slug, /^[a-z](?:[a-z0-9]|-(?!-)){0,22}[a-z0-9]$/, slug)
  assert.equal(new Set([...slugs, 'review-1']).size, names.length + 1)
  assert.equal(environmentSlug('1').startsWith('env-1-'), true)
  assert.equal(environmentSlug('review/1'), environmentSlug('review/1'))
})

test('names and addresses have the published faults', () => {
  const format =
    "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'"
  assert.deepEqual(environmentNameFaults('review/a b-c_d.${e}'), [])
  for (const name of ['/a', 'a/', 'a!', 'ä', 'a\nb']) assert.deepEqual(environmentNameFaults(name), [format])
  assert.deepEqual(environmentNameFaults(''), ["can't be blank", format])
  assert.deepEqual(environmentNameFaults('a'.repeat(256)), ['is too long (maximum is 255 characters)'])
  assert.deepEqual(externalUrlFaults('https://a.example'), [])
  assert.deepEqual(externalUrlFaults(' JavaScript:alert(1)'), ['javascript scheme is not allowed'])
})
