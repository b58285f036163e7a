/** A connection before its first session. */
import { expect, test } from 'vitest'
import { cleanUp, openStreet } from '../../../test/sim/street.ts'

cleanUp()

test('what sessions need may be loaded once a client has its answer to initialize, and not before', async () => {
  let times = 0
  const street = openStreet(undefined, { initialized: () => (times += 1) })
  const client = await street.client()
  expect(times).toBe(1)
  await client.request('session/list', {})
  expect(times).toBe(1)
})
