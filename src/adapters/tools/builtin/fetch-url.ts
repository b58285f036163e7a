/** `fetch_url`: a page of the public web as text. It tells the world what it asks for, so it is always asked about. */
import { z } from 'zod'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { ToolResult } from '../../../ports/tools.ts'
import { readablePage } from './fetch/html.ts'
import { type Got, getPage } from './fetch/page.ts'
import { Forbidden, onlyPublic } from './fetch/reach.ts'
import { amount, longResult, refuse } from './result.ts'
import { decode } from './text/encoding.ts'
import { natureOf, pictureType } from './text/nature.ts'
import { type Call, defineTool } from './tool.ts'

const LARGEST_PICTURE = 4 * 1024 * 1024

export const fetchUrl = defineTool({
  name: 'fetch_url',
  title: 'Fetch page',
  description:
    'Gets a page of the public web by http or https and gives back its text, or a picture. Never put secrets or file contents into the address. A redirect to another host is told, not followed.',
  arguments: z.strictObject({ url: z.string().min(1).max(4_000) }),
  kind: 'fetch',
  readOnly: false,
  preview({ url }) {
    const { host, pathname, href } = webAddress(url)
    return { title: `Fetch ${host}${pathname.slice(0, 80)}`, url: href }
  },
  async run({ url }, call) {
    const { means, signal, caller } = call
    const { mayReach = onlyPublic, clock } = means
    const got = await getPage(webAddress(url), { mayReach, clock, signal }).catch((error: unknown) =>
      cannot(url, error),
    )
    return told(got, caller)
  },
})

/** Throws for an address that is none of the web, or that carries somebody's name or password. */
function webAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/u.test(url.protocol))
    return refuse('Give a whole address that begins with https:// or http://.')
  if (url.username !== '' || url.password !== '')
    return refuse('An address with a name or password in it is not fetched.')
  url.hash = ''
  return url
}

/** The reason behind "fetch failed" is its cause. */
function cannot(url: string, error: unknown): never {
  const causes = [error, (error as Error).cause]
  const forbidden = causes.find((one) => one instanceof Forbidden)
  if (forbidden !== undefined) refuse(`${forbidden.message}. Nothing was sent.`, error)
  if (error instanceof TypeError)
    refuse(`${new URL(url).host} could not be reached: ${reasonOf(error.cause ?? error)}.`, error)
  throw error
}

function told(got: Got, { toolCallId }: Call['caller']): ToolResult {
  if (got.kind === 'elsewhere')
    return refuse(`The page redirects to another host. Fetch ${got.url.href} if you want to go there.`)
  const { url, status, type, bytes } = got
  const isError = status >= 400
  const picture = pictureType(bytes)
  if (picture !== undefined && !isError) return pictured(picture, bytes)
  const text = textOf(bytes, type)
  if (text === undefined)
    return refuse(`${url.href} is ${natureOf(bytes)} (${type || 'of an unknown type'}), not a text.`)
  const page =
    /html/iu.test(type) || /^\s*<(?:!doctype html|html)/iu.test(text) ? readablePage(text, url) : { title: '', text }
  const head = [`${url.href} (${status})`, page.title].filter((line) => line !== '').join('\n')
  return longResult(`${head}\n\n${page.text}`, toolCallId, { isError })
}

function pictured(mimeType: string, bytes: Buffer): ToolResult {
  if (bytes.length > LARGEST_PICTURE)
    return refuse(`The picture has ${amount(bytes.length)} bytes; at most ${amount(LARGEST_PICTURE)} can be shown.`)
  return { content: [{ type: 'image', data: bytes.toString('base64'), mimeType }], isError: false }
}

function textOf(bytes: Buffer, type: string): string | undefined {
  const decoded = decode(bytes)
  const label = /charset="?([\w-]+)/iu.exec(type)?.[1]
  if (decoded === undefined || decoded.encoding !== 'latin-1' || label === undefined) return decoded?.text
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    // Nobody knows that encoding.
    return decoded.text
  }
}
