/** How deep inside our own network an address is, so that nothing that a stranger says can lead a connection there. */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * `private` is a network of its own, `loopback` this machine. `never` is where machines of a cloud are told their secrets, and what is no
 * single host of the public network: documentation, tunnels and translations that lead to another address, multicast, unassigned space.
 */
export type Reach = 'public' | 'private' | 'loopback' | 'never'

type Special = readonly [network: string, reach: Exclude<Reach, 'public'>, what: string]

/** IANA's registry of special-purpose IPv4 addresses: what is not globally reachable, and what is no host. */
export const SPECIAL_IPV4: readonly Special[] = [
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

/** Of IPv6 only this is given to hosts of the public network; what it holds besides stands below. */
const GLOBAL_UNICAST = '2000::/3'

/** IANA's registry of special-purpose IPv6 addresses, and what is deprecated but still understood somewhere. */
export const SPECIAL_IPV6: readonly Special[] = [
  ['::1/128', 'loopback', 'loopback'],
  ['fd00:ec2::/32', 'never', 'secrets of a cloud'],
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

/** Of an address in any of its ways of being written. What is no address is never to be reached. */
export function reachOf(address: string): Reach {
  const plain = address.replace(/%.*$/u, '')
  if (isIPv4(plain)) return reachIn(IPV4, plain, 'ipv4') ?? 'public'
  if (!isIPv6(plain)) return 'never'
  const within = ipv4Within(plain)
  if (within?.by === 'mapped') return reachOf(within.address)
  // A translator of the network leads on to the IPv4 address.
  if (within?.by === 'translated') return reachOf(within.address) === 'public' ? 'public' : 'never'
  return reachIn(IPV6, plain, 'ipv6') ?? (PUBLIC_IPV6.check(plain, 'ipv6') ? 'public' : 'never')
}

/** Whether a server at `home` may name an address at `there`. */
export function isWithin(there: Reach, home: Reach): boolean {
  if (there === 'public') return true
  return there !== 'never' && (there === home || (there === 'private' && home === 'loopback'))
}

interface Embedded {
  readonly by: 'mapped' | 'translated'
  readonly address: string
}

/** `::ffff:a.b.c.d` and `64:ff9b::a.b.c.d`, however they are written. */
function ipv4Within(address: string): Embedded | undefined {
  const groups = groupsOf(address)
  const prefix = groups.slice(0, 6).join(':')
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16))
  const plain = [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  if (prefix === '0:0:0:0:0:ffff') return { by: 'mapped', address: plain }
  return prefix === '64:ff9b:0:0:0:0' ? { by: 'translated', address: plain } : undefined
}

/** All eight, as the URL standard writes them: without leading zeros and without dots. */
function groupsOf(address: string): readonly string[] {
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [left, right ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const missing = 8 - (before?.length ?? 0) - (after?.length ?? 0)
  return [...(before ?? []), ...Array.from({ length: missing }, () => '0'), ...(after ?? [])]
}

type Family = 'ipv4' | 'ipv6'

interface Range {
  readonly reach: Reach
  readonly list: BlockList
}

const IPV4 = rangesOf(SPECIAL_IPV4, 'ipv4')
const IPV6 = rangesOf(SPECIAL_IPV6, 'ipv6')
const PUBLIC_IPV6 = listOf(GLOBAL_UNICAST, 'ipv6')

function rangesOf(specials: readonly Special[], family: Family): readonly Range[] {
  return specials.map(([network, reach]) => ({ reach, list: listOf(network, family) }))
}

function listOf(network: string, family: Family): BlockList {
  const [address = '', bits] = network.split('/')
  const list = new BlockList()
  list.addSubnet(address, Number(bits), family)
  return list
}

function reachIn(ranges: readonly Range[], address: string, family: Family): Reach | undefined {
  return ranges.find(({ list }) => list.check(address, family))?.reach
}
