/** The page: the files that the build made of `src/web`, the same for everyone, so they need no credential. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Exchange } from '../exchange.ts'
import type { Route } from '../routes.ts'

/**
 * Nothing inline, nothing of other origins, and no text that becomes HTML: a page that shows what agents say has no other way to
 * stay one's own.
 */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types parley',
].join('; ')

const GUARDED = {
  'Content-Security-Policy': CSP,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), interest-cohort=()',
  'X-Frame-Options': 'DENY',
} as const

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}

/** Files with a hash in their address never change. */
const HASHED = '/a/'
const UNDER_THE_ROOT = ['/', '/sw.js', '/manifest.webmanifest', '/icon.svg', '/icon-192.png', '/icon-512.png']

interface File {
  readonly plain: Buffer
  readonly br: Buffer | undefined
  readonly gzip: Buffer | undefined
}

export function pageRoutes(directory: string | undefined = builtPage()): readonly Route[] {
  const files = new PageFiles(directory)
  return [...UNDER_THE_ROOT, `${HASHED}*`].map((path) => ({
    path,
    methods: ['GET'],
    access: 'public' as const,
    handle: (exchange) => files.answer(exchange),
  }))
}

class PageFiles {
  readonly #directory: string | undefined
  /** Read with the first request: most servers are never asked. */
  #files: ReadonlyMap<string, File> | undefined

  constructor(directory: string | undefined) {
    this.#directory = directory
  }

  answer(exchange: Exchange): void {
    this.#files ??= this.#directory === undefined ? new Map() : filesIn(this.#directory)
    const path = exchange.path === '/' ? '/index.html' : exchange.path
    const file = this.#files.get(path)
    if (file === undefined) return exchange.refuse({ status: 404, sentence: this.#sentenceFor(path) })
    const [encoding, body] = encoded(file, exchange.header('accept-encoding') ?? '')
    const { hasTls, publicUrl } = exchange.reachable
    const isSecure = hasTls || publicUrl?.protocol === 'https:'
    exchange.answer(
      200,
      {
        ...GUARDED,
        ...(isSecure && { 'Strict-Transport-Security': 'max-age=31536000' }),
        ...(encoding !== undefined && { 'Content-Encoding': encoding }),
        Vary: 'Accept-Encoding',
        'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
        'Cache-Control': path.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
      body,
    )
  }

  #sentenceFor(path: string): string {
    return path === '/index.html'
      ? 'The page is missing from this installation of Parley; npm run build makes it.'
      : 'The page has no such file any more; load it again.'
  }
}

function encoded(file: File, accepted: string): readonly [string | undefined, Buffer] {
  const takes = (name: string): boolean =>
    new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`, 'iu').test(accepted)
  if (file.br !== undefined && takes('br')) return ['br', file.br]
  if (file.gzip !== undefined && takes('gzip')) return ['gzip', file.gzip]
  return [undefined, file.plain]
}

function filesIn(directory: string): ReadonlyMap<string, File> {
  const all = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'))
  const names = all.filter((path) => extname(path) in TYPES)
  const read = (path: string): Buffer | undefined =>
    all.includes(path) ? readFileSync(join(directory, path)) : undefined
  return new Map(
    names.map((path) => [
      `/${path}`,
      { plain: readFileSync(join(directory, path)), br: read(`${path}.br`), gzip: read(`${path}.gz`) },
    ]),
  )
}

/** Beside the bundle that this is in, or where the build puts it when the sources themselves run. */
function builtPage(): string | undefined {
  const places = ['./web/', '../web/', '../../../../dist/web/'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  )
  return places.find((place) => existsSync(join(place, 'index.html')))
}
