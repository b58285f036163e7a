/** Turns a fetched page into the result of a call, or into the reason why it could not be fetched. */
import { reasonOf } from '../../../errors/parley-error.ts'
import type { ToolResult } from '../../../ports/tools.ts'
import { decode } from '../../../workspace/encoding.ts'
import { describeBinary, imageType } from '../../../workspace/file-type.ts'
import { type ToolCall, longResult } from '../toolset/tool.ts'
import { failTool } from '../toolset/tool-failure.ts'
import { formatCount } from '../../../text/shorten.ts'
import { readablePage } from './html-to-text.ts'
import { type FetchedPage, getPage } from './page.ts'
import { Forbidden, onlyPublic } from './reach.ts'

const MAX_IMAGE_BYTES = 4 * 1024 * 1024

export async function fetched(url: URL, { services, signal, caller }: ToolCall): Promise<ToolResult> {
  const { mayReach = onlyPublic, clock } = services
  const got = await getPage(url, { mayReach, clock, signal }).catch((error: unknown) => fetchError(url, error))
  return resultOf(got, caller)
}

/** The reason behind "fetch failed" is its cause. */
function fetchError({ host }: URL, error: unknown): never {
  const causes = [error, (error as Error).cause]
  const forbidden = causes.find((one) => one instanceof Forbidden)
  if (forbidden !== undefined) failTool(`${forbidden.message}. Nothing was sent there.`, error)
  if (error instanceof TypeError) failTool(`${host} could not be reached: ${reasonOf(error.cause ?? error)}.`, error)
  throw error
}

type Page = Extract<FetchedPage, { readonly kind: 'page' }>

function resultOf(got: FetchedPage, { toolCallId }: ToolCall['caller']): ToolResult {
  if (got.kind === 'elsewhere')
    return failTool(`The page redirects to another host. Fetch ${got.url.href} if you want to go there.`)
  const { url, status, type, isCut } = got
  const bytes = isCut ? wholeCharacters(got.bytes) : got.bytes
  const isError = status >= 400
  const picture = imageType(bytes)
  if (picture !== undefined && !isError) return imageResult(picture, got)
  const text = decodePage(bytes, type)
  if (text === undefined)
    return failTool(`${url.href} is ${describeBinary(bytes)} (${type || 'of an unknown type'}), not a text.`)
  const page =
    /html/iu.test(type) || /^\s*<(?:!doctype html|html)/iu.test(text) ? readablePage(text, url) : { title: '', text }
  const cut = isCut ? `[It has more than ${formatCount(got.bytes.length)} bytes; only these were read.]` : ''
  const head = [`${url.href} (${status})`, page.title, cut].filter((line) => line !== '').join('\n')
  return longResult(`${head}\n\n${page.text}`, toolCallId, { isError })
}

function imageResult(mimeType: string, { bytes, isCut }: Page): ToolResult {
  if (bytes.length > MAX_IMAGE_BYTES)
    return failTool(
      `The picture has ${isCut ? 'more than ' : ''}${formatCount(bytes.length)} bytes; at most ${formatCount(MAX_IMAGE_BYTES)} can be shown.`,
    )
  return { content: [{ type: 'image', data: bytes.toString('base64'), mimeType }], isError: false }
}

/** A cut may go through a letter of UTF-8. */
function wholeCharacters(bytes: Buffer): Buffer {
  const last = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  const lead = bytes[last] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return bytes.length - last < length ? bytes.subarray(0, last) : bytes
}

/** Decodes as the headers say, else as the document says. Valid UTF-8 overrides both, unless they name UTF-16 or ISO-2022. */
function decodePage(bytes: Buffer, type: string): string | undefined {
  const label = [type, bytes.toString('latin1', 0, 2_048)].map(charsetIn).find(isKnown)
  const decoded = decode(bytes)
  const isTold = /^(?:utf-16|iso-2022)/iu.test(label ?? '')
  if (label === undefined || (decoded !== undefined && decoded.encoding !== 'latin-1' && !isTold)) return decoded?.text
  if (decoded === undefined && !isTold) return undefined
  return new TextDecoder(label).decode(bytes)
}

function isKnown(label: string | undefined): boolean {
  if (label === undefined) return false
  try {
    return new TextDecoder(label).encoding !== ''
  } catch {
    // The encoding is unknown.
    return false
  }
}

function charsetIn(text: string): string | undefined {
  return /\bcharset\s*=\s*["']?([\w-]+)/iu.exec(text)?.[1]
}
