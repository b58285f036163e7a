/** How deep inside our own network an address is, so that a server cannot send us deeper than it is itself. */
import { BlockList, isIPv6 } from 'node:net'

/** `never` are addresses where machines of a cloud are told their secrets, and those that are no single host. */
export type Reach = 'public' | 'private' | 'loopback' | 'never'

export function reachOf(address: string): Reach {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  const plain = mapped ?? address
  const family = isIPv6(plain) ? 'ipv6' : 'ipv4'
  const found = RANGES.find(({ lists }) => lists[family].check(plain, family))
  return found?.reach ?? 'public'
}

/** Whether a server at `home` may name an address at `there`. */
export function isWithin(there: Reach, home: Reach): boolean {
  if (there === 'public') return true
  return there !== 'never' && (there === home || (there === 'private' && home === 'loopback'))
}

/** One list for each family: to one that has mapped addresses in it every IPv4 address is one of them. */
interface Range {
  readonly reach: Reach
  readonly lists: { readonly ipv4: BlockList; readonly ipv6: BlockList }
}

const RANGES: readonly Range[] = [
  ranges('loopback', ['127.0.0.0/8', '::1/128']),
  ranges('never', [
    '0.0.0.0/8',
    '169.254.0.0/16',
    '192.0.0.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
    '::/128',
    '::ffff:0:0/96',
    '64:ff9b::/96',
    'fe80::/10',
    'ff00::/8',
    'fd00:ec2::/32',
  ]),
  ranges('private', ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15', 'fc00::/7']),
]

function ranges(reach: Reach, networks: readonly string[]): Range {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    lists[family].addSubnet(address, Number(bits), family)
  }
  return { reach, lists }
}
