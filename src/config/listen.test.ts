import { describe, expect, test } from 'vitest'
import { wordsIn } from '../../test/fixtures/word-list.ts'
import { parseListen, requireSafe } from './listen.ts'

describe('an address to listen on', () => {
  const studio = { host: 'studio.example', port: 1 }

  test.each([
    ['7777', [{ host: '127.0.0.1', port: 7777 }]],
    ['0', [{ host: '127.0.0.1', port: 0 }]],
    ['[::1]:7777', [{ host: '::1', port: 7777 }]],
    ['studio.example:1, 2', [studio, { host: '127.0.0.1', port: 2 }]],
  ])('%j is accepted', (text, addresses) => expect(parseListen(text)).toEqual(addresses))

  test.each(['x', '70000', 'a b:1', 'http://x:1', ':1', '', '1,'])('%j is refused', (text) =>
    expect(parseListen(text)).toBeUndefined(),
  )
})

const OPEN = wordsIn(`0.0.0.0:0 [::]:0 192.0.2.1:0 10.0.0.1:0 127.evil.example:0 127.0.0.1.example.org:0
  localhost.example.org:0 1,0.0.0.0:1`)

describe('without TLS', () => {
  const plain = { insecureHttp: false }
  const listen = (text: string) => parseListen(text) ?? []

  test.each(OPEN)('%s, which other machines can reach, is refused', (text) => {
    expect(() => requireSafe(listen(text), plain)).toThrow(/--tls-cert/u)
    expect(() => requireSafe(listen(text), { insecureHttp: true })).not.toThrow()
  })

  test.each(['7777', 'localhost:1', '127.1.2.3:1', '[::1]:1'])(
    '%s, which other machines cannot reach, is accepted',
    (text) => expect(() => requireSafe(listen(text), plain)).not.toThrow(),
  )
})
