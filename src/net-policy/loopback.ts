/** Which hosts are this machine, so that what is sent there needs no encryption. */

/** A name that only begins like an address of this machine may be any host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host)
}
