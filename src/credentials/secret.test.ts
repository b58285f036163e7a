import { expect, test } from 'vitest'
import { linkIdOf, newLinkCode } from './secret.ts'

test('the id of a link can be an argument of a command: it never begins with a hyphen', () => {
  const ids = Array.from({ length: 2_000 }, () => linkIdOf(newLinkCode()))
  expect(ids.filter((id) => !/^\w[\w-]{3}$/u.test(id))).toEqual([])
})
