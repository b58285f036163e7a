/** The address of a request's client. Headers of proxies count only if the proxy is trusted, and never as an identity. */
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'

export class TrustedProxies {
  readonly #addresses = new BlockList()
  #isEmpty = true

  /** Addresses, or networks such as `10.0.0.0/8`. Throws TypeError for anything else. */
  constructor(addresses: readonly string[]) {
    for (const address of addresses) this.#add(address)
  }

  /** The address of the client, as the nearest proxies saw it. */
  addressOf(peer: string, headers: IncomingHttpHeaders): string {
    const hops = [...forwarded(headers['x-forwarded-for']), peer]
    // Each proxy appends who asked it; the last one that no proxy of ours is may write what it likes before that.
    return hops.findLast((hop) => !this.#has(hop)) ?? hops[0] ?? peer
  }

  #has(address: string): boolean {
    if (this.#isEmpty) return false
    const plain = address.replace(/^::ffff:(?=\d+\.)/u, '')
    return isIP(plain) !== 0 && this.#addresses.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')
  }

  #add(text: string): void {
    const [address = '', bits] = text.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (isIP(address) === 0 || !/^\d{1,3}$/u.test(bits ?? '0')) throw new TypeError(`${text} is no address`)
    if (bits === undefined) this.#addresses.addAddress(address, family)
    else this.#addresses.addSubnet(address, Number(bits), family)
    this.#isEmpty = false
  }
}

function forwarded(header: string | readonly string[] | undefined): readonly string[] {
  return String(header ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}
