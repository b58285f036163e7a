import { expect, test } from 'vitest'
import { parseAddress } from './address.ts'
import { Timeline } from './timeline.ts'

const at = (address: string) => new Timeline(parseAddress(address))
const pg = 'postgres://parley@one,two/db'

test('a server is refused once another one was promoted after it, whichever node has met that one', () => {
  const [timeline, other] = [at(pg), at(pg)]
  let promoted = 0
  timeline.whenPromoted(() => (promoted += 1))
  expect(timeline.said).toBeUndefined()
  for (const number of [undefined, 3, 3, undefined]) timeline.connected(number)
  other.connected(2)
  timeline.heard(other.said ?? '')
  expect([timeline.newest, promoted]).toEqual([3, 0])
  other.connected(4)
  timeline.heard(other.said ?? '')
  expect([timeline.newest, promoted]).toEqual([4, 1])
  expect(() => timeline.connected(3)).toThrow('its timeline is 3, that of the other 4')
  timeline.connected(4)
  timeline.connected(5)
  expect([timeline.newest, promoted]).toEqual([5, 2])
})

test('nothing is believed of a database with another address: it may be a copy that was restored there', () => {
  const [timeline, copy] = [at(pg), at('postgres://parley@staging/db')]
  timeline.connected(3)
  copy.connected(9)
  for (const said of [copy.said ?? '', '', '9', 'x y']) timeline.heard(said)
  expect(timeline.newest).toBe(3)
})
