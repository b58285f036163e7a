/** Finds out that nobody listens at an address of this machine before an HTTP client is loaded to ask there. */
import { connect } from 'node:net'
import type { Clock } from '../../../ports/clock.ts'

/** True when it was refused; false when somebody is there, or when that cannot be told in this time. */
export function isPortClosed(url: string, limitMs: number, clock: Clock): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/gu, '')
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
    const timer = clock.setTimer(limitMs, () => over(false))
    function over(deaf: boolean): void {
      timer.cancel()
      socket.destroy()
      resolve(deaf)
    }
    socket.once('connect', () => over(false))
    socket.on('error', (error: NodeJS.ErrnoException) => over(error.code === 'ECONNREFUSED'))
  })
}
