/** Addresses that the server listens on for remote clients, and which of them may be used without TLS. */
import { fail } from '../errors/parley-error.ts'
import { isLoopback } from '../net-policy/loopback.ts'

export interface ListenAddress {
  /** A name or an address, without brackets. */
  readonly host: string
  /** 0: a free one. */
  readonly port: number
}

/** How clients reach the server from other machines. */
export interface RemoteAccess {
  /** Files with the certificate and its key, as PEM. */
  readonly tls?:
    | { readonly certFile: string; readonly keyFile: string; readonly clientCaFile?: string | undefined }
    | undefined
  /** Where a proxy with TLS receives clients. */
  readonly publicUrl?: URL | undefined
  /** Pages of these origins may use the server, with a bearer token. */
  readonly allowedOrigins?: readonly string[]
  /** Addresses and networks of proxies that say where their clients come from. */
  readonly trustedProxies?: readonly string[]
  readonly insecureHttp: boolean
}

const LOOPBACK = '127.0.0.1'

/** `7777`, `HOST:PORT` or `[::1]:7777`, several separated by commas. Undefined for anything else. */
export function parseListen(text: string): readonly ListenAddress[] | undefined {
  const addresses = text.split(',').map((one) => addressIn(one.trim()))
  return addresses.every((one) => one !== undefined) ? addresses : undefined
}

function addressIn(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits = ''] = /^(?:(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+)):)?(\d{1,5})$/iu.exec(text) ?? []
  const port = Number(digits)
  if (digits === '' || port > 65_535) return undefined
  return { host: bracketed ?? plain ?? LOOPBACK, port }
}

/** As it stands in an address of the web. */
export function shownAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Tokens and conversations must not cross a network that others can read. Throws CONFIG_INVALID. */
export function requireSafe(addresses: readonly ListenAddress[], { tls, publicUrl, insecureHttp }: RemoteAccess): void {
  if (tls !== undefined || publicUrl !== undefined || insecureHttp) return
  const open = addresses.find(({ host }) => !isLoopback(host))
  if (open === undefined) return
  const reason =
    'others on the network could read along; run parley serve with --tls-cert and --tls-key, with --public-url https://… behind a proxy that has a certificate, or with --insecure-http'
  fail('CONFIG_INVALID', { key: 'listen', value: JSON.stringify(shownAddress(open)), reason })
}
