import { expect, test } from 'vitest'
import { parseAddress } from './address.ts'

test('nothing of a password is shown, also of one with an @ in it', () => {
  const { shown, urls } = parseAddress('postgres://ada:p@ss@one,two:5433/db?sslmode=require')
  expect(shown).toBe('postgres://ada@one,two:5433/db')
  expect(urls).toEqual([
    'postgres://ada:p@ss@one/db?sslmode=require',
    'postgres://ada:p@ss@two:5433/db?sslmode=require',
  ])
})

test('a password with a slash that is not written as %2F is refused, and not shown', () => {
  const parse = () => parseAddress('postgres://ada:hu/sh@one/db')
  expect(parse).toThrow(expect.not.stringContaining('sh@one') as Error)
  expect(parse).toThrow('it is not an address')
})
