/** Every block that IANA sets aside, at its first and last address and in any way of writing, and what lies beside them. */
import { assert, bigInt, ipV4, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wordsIn } from '../../test/fixtures/word-list.ts'
import { mayNameAddress, addressScope, SPECIAL_IPV4, SPECIAL_IPV6 } from './address-scope.ts'

/** The registries as IANA lists them, of what is not globally reachable; https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-. */
const REGISTRIES = wordsIn(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32
  192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  240.0.0.0/4 255.255.255.255/32 224.0.0.0/4
  ::1/128 ::/128 ::ffff:0:0/104 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:2::/48 2001:10::/28
  2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8 ::/96`)
/** What lies between them. */
const PUBLIC = wordsIn(`
  1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 128.0.0.1 169.253.255.255 172.32.0.0 191.255.255.255 192.0.1.0
  192.88.98.255 192.88.100.0 192.167.255.255 198.17.255.255 223.255.255.255
  2000::1 2001:200::1 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 64:ff9b::101:101 ::ffff:1.1.1.1 ::ffff:101:101`)

function bigOf(address: string): { readonly value: bigint; readonly bits: number } {
  if (address.includes('.') && !address.includes(':'))
    return { value: address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n), bits: 32 }
  const [left = '', right] = address.split('::')
  const [before, after] = [left, right ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const missing = 8 - (before?.length ?? 0) - (after?.length ?? 0)
  const groups = [...(before ?? []), ...Array.from({ length: missing }, () => '0'), ...(after ?? [])]
  return { value: groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n), bits: 128 }
}

function textOf(value: bigint, bits: number): string {
  const size = bits === 32 ? 8n : 16n
  const parts = Array.from(
    { length: bits / Number(size) },
    (_, n) => (value >> (BigInt(bits) - size * BigInt(n + 1))) & ((1n << size) - 1n),
  )
  return bits === 32 ? parts.join('.') : parts.map((part) => part.toString(16)).join(':')
}

function edgesOf(network: string): readonly string[] {
  const [address = '', prefix] = network.split('/')
  const { value, bits } = bigOf(address)
  const size = 1n << BigInt(bits - Number(prefix))
  return [value, value + size / 2n, value + size - 1n].map((one) => textOf(one, bits))
}

describe('reserved addresses', () => {
  test.each(REGISTRIES)('%s is not public, from its first to its last address', (network) => {
    expect(edgesOf(network).map(addressScope)).not.toContain('public')
  })

  test.each([...SPECIAL_IPV4, ...SPECIAL_IPV6].map(([network, reach]) => [network, reach] as const))(
    '%s is %s',
    (network, reach) => {
      const [first = '', ...rest] = edgesOf(network)
      expect(rest.map(addressScope).at(-1) ?? addressScope(first)).toBe(reach)
    },
  )

  test.each(PUBLIC)('%s next to them is public', (address) => expect(addressScope(address)).toBe('public'))

  test.each(['', 'localhost', '127.1', '0x7f.1', '2130706433', '::g', '1.2.3.4.5'])('%j is not an address', (text) =>
    expect(addressScope(text)).toBe('never'),
  )
})

describe('in any notation', () => {
  const anyAddress = ipV4()

  test('an IPv4 address within an IPv6 one has the scope of the IPv4 address, or none', () => {
    assert(
      property(anyAddress, (address) => {
        const low = textOf(bigOf(address).value, 128).split(':').slice(6).join(':')
        const own = addressScope(address)
        expect(addressScope(`::ffff:${address}`)).toBe(own)
        expect(addressScope(`::FFFF:${low}`)).toBe(own)
        expect(addressScope(`0:0:0:0:0:ffff:${low}`)).toBe(own)
        expect(addressScope(`64:ff9b::${low}`)).toBe(own === 'public' ? 'public' : 'never')
        const others = [`::${address}`, `2002:${low}::1`, `2001:0:${low}::1`, `64:ff9b:1::${low}`, `::ffff:0:${low}`]
        // `::` and `::1` are addresses of their own.
        if (!address.startsWith('0.0.0.')) expect(others.map(addressScope)).toEqual(others.map(() => 'never'))
      }),
    )
  })

  test('nothing outside 2000::/3 is public, except NAT64 addresses', () => {
    assert(
      property(bigInt(0n, (1n << 128n) - 1n), (value) => {
        const address = textOf(value, 128)
        const isUnicast = value >> 125n === 1n
        if (!isUnicast) expect(addressScope(address)).not.toBe('public')
      }),
    )
  })

  test('a zone changes nothing', () =>
    expect(['fe80::1%eth0', '::1%lo'].map(addressScope)).toEqual(['never', 'loopback']))
})

test('a server may name addresses of its own scope or a wider one, and never an address that is no host', () => {
  const all = ['public', 'private', 'loopback', 'never'] as const
  expect(all.map((home) => all.filter((there) => mayNameAddress(home, there)))).toEqual([
    ['public'],
    ['public', 'private'],
    ['public', 'private', 'loopback'],
    ['public'],
  ])
})
