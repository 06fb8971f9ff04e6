/* How the unmodified client pages: it follows `Link rel="next"` alone, and sends the query it finds there. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GROUPS, isPrivate, neighbours, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

test('it walks every page of all groups and meets each once, in order', async () => {
  const { as } = harbour
  const groups = await as('root').Groups.all({ perPage: 7 })
  assert.deepEqual(
    groups.map((group) => group.full_path),
    ['harbour', ...neighbours()],
  )
})

test('it reads where a page stands from the headers of the list', async () => {
  const { as } = harbour
  const { data, paginationInfo } = await as('root').Groups.all({
    pagination: 'offset',
    perPage: 10,
    page: 2,
    showExpanded: true,
  })
  assert.equal(data.length, 10)
  assert.deepEqual(paginationInfo, {
    total: GROUPS,
    next: 3,
    current: 2,
    previous: 1,
    perPage: 10,
    totalPages: 5,
  })
  const last = await as('root').Groups.all({
    pagination: 'offset',
    perPage: 10,
    page: 5,
    showExpanded: true,
  })
  assert.equal(last.data.length, 5)
  assert.deepEqual(last.paginationInfo, {
    total: GROUPS,
    next: null,
    current: 5,
    previous: 4,
    perPage: 10,
    totalPages: 5,
  })
})

test('it keeps its filters from page to page', async () => {
  const { as } = harbour
  const options = { perPage: 2, search: 'harbour-1', orderBy: 'path', sort: 'desc' } as const
  const groups = await as('root').Groups.all(options)
  assert.deepEqual(
    groups.map((group) => group.path),
    neighbours((i) => i >= 10 && i < 20).toReversed(),
  )
})

test('it sends a list of ids to skip, and they are skipped on each page', async () => {
  const { groupId, as } = harbour
  const groups = await as('root').Groups.all({ perPage: 10, skipGroups: [groupId] })
  assert.equal(groups.length, GROUPS - 1)
  assert.ok(groups.every((group) => group.id !== groupId))
})

test('without a token it walks the public groups by keyset, and sees no private one', async () => {
  const { clientFor } = harbour
  const found = await clientFor().Groups.all({
    pagination: 'keyset',
    perPage: 6,
    orderBy: 'name',
    sort: 'asc',
  })
  assert.deepEqual(
    found.map((group) => group.path),
    ['harbour', ...neighbours((i) => !isPrivate(i))],
  )
})
test('without a token it walks the public groups by offset as well', async () => {
  const { clientFor } = harbour
  const found = await clientFor().Groups.all({ perPage: 6 })
  assert.equal(found.length, GROUPS - neighbours(isPrivate).length)
})
