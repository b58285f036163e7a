/** How far inside our own network an address is. If a model, a page or a server names an address, a connection must not lead into that network. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * `private` is a network of its own, `loopback` this machine. `never` is no single host of the public network: the metadata services of
 * clouds, documentation, multicast, unassigned space, and tunnels and translations that lead to another address.
 */
export type AddressScope = 'public' | 'private' | 'loopback' | 'never'

type SpecialRange = readonly [network: string, scope: Exclude<AddressScope, 'public'>, what: string]

/** IANA's registry of special-purpose IPv4 addresses: ranges that are not globally reachable, and ranges without hosts. */
export const SPECIAL_IPV4: readonly SpecialRange[] = [
  ['0.0.0.0/8', 'never', 'this network'],
  ['10.0.0.0/8', 'private', 'private use'],
  ['100.64.0.0/10', 'private', 'shared address space'],
  ['127.0.0.0/8', 'loopback', 'loopback'],
  ['169.254.0.0/16', 'never', 'link local'],
  ['172.16.0.0/12', 'private', 'private use'],
  ['192.0.0.0/24', 'never', 'protocol assignments'],
  ['192.0.2.0/24', 'never', 'documentation'],
  ['192.88.99.0/24', 'never', '6to4 relays'],
  ['192.168.0.0/16', 'private', 'private use'],
  ['198.18.0.0/15', 'private', 'benchmarks'],
  ['198.51.100.0/24', 'never', 'documentation'],
  ['203.0.113.0/24', 'never', 'documentation'],
  ['224.0.0.0/4', 'never', 'multicast'],
  ['240.0.0.0/4', 'never', 'reserved, and broadcast'],
]

/** Only this part of IPv6 is assigned to public hosts; the exceptions within it stand below. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** NAT64: a translator of the network leads on to the IPv4 address in the last four bytes. */
const TRANSLATED = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** IANA's registry of special-purpose IPv6 addresses, and ranges that are deprecated but that some systems still route. The first match counts. */
export const SPECIAL_IPV6: readonly SpecialRange[] = [
  ['::1/128', 'loopback', 'loopback'],
  ['fd00:ec2::/32', 'never', 'metadata service of a cloud'],
  ['fc00::/7', 'private', 'unique local'],
  ['::/96', 'never', 'IPv4-compatible'],
  ['::ffff:0:0:0/96', 'never', 'IPv4-translated'],
  ['64:ff9b:1::/48', 'never', 'local translation'],
  ['100::/64', 'never', 'discard only'],
  ['100:0:0:1::/64', 'never', 'dummy prefix'],
  ['2001::/23', 'never', 'protocol assignments: Teredo, benchmarks, ORCHID, drone tags'],
  ['2001:db8::/32', 'never', 'documentation'],
  ['2002::/16', 'never', '6to4'],
  ['3fff::/20', 'never', 'documentation'],
  ['5f00::/16', 'never', 'segment routing'],
  ['fe80::/10', 'never', 'link local'],
  ['fec0::/10', 'never', 'site local'],
  ['ff00::/8', 'never', 'multicast'],
]

/** The scope of an address, however it is written. Text that is no address is never reached. */
export function addressScope(text: string): AddressScope {
  // Stricter than the library, which also takes forms such as `0x7f.1`.
  const family = isIP(text)
  if (family === 0) return 'never'
  if (family === 4) return scopeIn(IPV4_RANGES, ipaddr.IPv4.parse(text)) ?? 'public'
  const address = ipaddr.IPv6.parse(inHexadecimal(text))
  if (address.isIPv4MappedAddress()) return addressScope(lastFourBytes(address))
  if (address.match(TRANSLATED)) return addressScope(lastFourBytes(address)) === 'public' ? 'public' : 'never'
  return scopeIn(IPV6_RANGES, address) ?? (address.match(GLOBAL_UNICAST) ? 'public' : 'never')
}

/** Whether a server whose own address has the scope `home` may name an address with the scope `there`. */
export function mayNameAddress(home: AddressScope, there: AddressScope): boolean {
  if (there === 'public') return true
  return there !== 'never' && (there === home || (there === 'private' && home === 'loopback'))
}

interface ScopedRange {
  readonly scope: AddressScope
  readonly range: ReturnType<typeof ipaddr.parseCIDR>
}

const IPV4_RANGES = SPECIAL_IPV4.map(toRange)
const IPV6_RANGES = SPECIAL_IPV6.map(toRange)

function toRange([network, scope]: SpecialRange): ScopedRange {
  return { scope, range: ipaddr.parseCIDR(network) }
}

function scopeIn(ranges: readonly ScopedRange[], address: ipaddr.IPv4 | ipaddr.IPv6): AddressScope | undefined {
  return ranges.find(({ range }) => address.match(range))?.scope
}

function lastFourBytes(address: ipaddr.IPv6): string {
  return new ipaddr.IPv4(address.toByteArray().slice(-4)).toString()
}

/** Without the zone and without dots: the library would read the deprecated `::1.2.3.4` as the mapped `::ffff:1.2.3.4`. */
function inHexadecimal(text: string): string {
  return new URL(`http://[${text.replace(/%.*$/u, '')}]`).hostname.slice(1, -1)
}
