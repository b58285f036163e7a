/** One request over a connection of its own, past the first exchange. */
import type { Duplex } from 'node:stream'
import { ParleyError, fail } from '../../errors/parley-error.ts'
import { LineFraming, TooLong, decodeUtf8 } from '../../rpc/framing.ts'
import { type Response, parseMessage, requestMessage } from '../../rpc/json-rpc.ts'
import { readPidFile } from '../daemon/pid-file.ts'

/** More characters than go out together with `initialize`. */
const LARGE = 16 * 1024

export interface OneRequest {
  readonly method: string
  readonly params: object
  readonly timeoutMs: number
  readonly clientToken?: string | undefined
  /** The state directory of the server, if it is one of this machine. */
  readonly home?: string
}

/** Closes the connection. Throws SERVER_SILENT, PEER_REFUSED and CONNECTION_LOST. */
export async function requestOver(
  connection: Duplex,
  { method, params, timeoutMs, clientToken, home }: OneRequest,
): Promise<unknown> {
  let isSilent = false
  const silence = setTimeout(() => {
    isSilent = true
    connection.destroy()
  }, timeoutMs)
  try {
    const _meta = { 'parley/token': clientToken }
    const initialize = { protocolVersion: 1, clientCapabilities: {}, _meta }
    const request = `${requestMessage(1, method, params)}\n`
    // A remote server reads little before it has answered `initialize`.
    const isLarge = request.length > LARGE
    connection.write(`${requestMessage(0, 'initialize', initialize)}\n${isLarge ? '' : request}`)
    const response = await responseOn(connection, method, () => isLarge && connection.write(request))
    if (response !== undefined) return response.result
    if (!isSilent) return fail('CONNECTION_LOST', { method })
    return fail('SERVER_SILENT', { pid: home === undefined ? null : (readPidFile(home)?.pid ?? null) })
  } finally {
    clearTimeout(silence)
    connection.destroy()
  }
}

/** The response to the request, undefined when the connection ends without one. Throws PEER_REFUSED when either request failed. */
async function responseOn(connection: Duplex, method: string, greeted: () => void): Promise<Response | undefined> {
  for await (const response of responsesOn(connection)) {
    if (response.error !== undefined) {
      const { code, message: reason = 'The server gave no reason.' } = response.error
      throw new ParleyError('PEER_REFUSED', { method, code, reason })
    }
    if (response.id === 1) return response
    greeted()
  }
  return undefined
}

async function* responsesOn(connection: Duplex): AsyncGenerator<Response> {
  const framing = new LineFraming(Number.POSITIVE_INFINITY)
  try {
    for await (const bytes of connection) {
      const texts = framing
        .push(bytes as Buffer)
        .map((frame) => (frame instanceof TooLong ? undefined : decodeUtf8(frame)))
      yield* texts.map((text) => parseMessage(text ?? '')).filter((message) => message.kind === 'response')
    }
  } catch {
    // A connection that breaks has ended.
  }
}
