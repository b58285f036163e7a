import { expect, test } from 'vitest'
import { addressOf, filterIn, placeIn } from './place.ts'

const NO_FILTER = { text: '', group: '', share: '' }

test.each([
  { screen: 'sessions' },
  { screen: 'new' },
  { screen: 'search', query: '' },
  { screen: 'search', query: 'a b&c=d #1 磁盘' },
  { screen: 'session', id: '1f3a', seq: undefined, find: undefined },
  { screen: 'session', id: '../x?y', seq: 40_000, find: undefined },
  { screen: 'session', id: '1f3a', seq: 1, find: '磁盘 &' },
] as const)('an address says what is shown, and is read again: %j', (place) => {
  const address = addressOf(place, { text: 'relay', group: 'waits', share: '' })
  // Relative, so that the page works below any path.
  expect(address).toMatch(/^\.\/\?/u)
  const { search } = new URL(address, 'https://parley.example/base/')
  expect(placeIn(search)).toEqual(place)
  expect(filterIn(search)).toEqual({ text: 'relay', group: 'waits', share: '' })
})

test('the list without a filter is the address itself, and what is no entry is none', () => {
  expect(addressOf({ screen: 'sessions' }, NO_FILTER)).toBe('./')
  expect(placeIn('?session=a&at=-1')).toEqual({ screen: 'session', id: 'a', seq: undefined, find: undefined })
})
