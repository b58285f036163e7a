/** Tells an answer that is no stream from one: a page, or a failure that came as if it were a success. */
import { APICallError } from '@ai-sdk/provider'
import { titleIn } from '../http/failure.ts'

type Fetch = typeof globalThis.fetch

/** Letters of what is no stream; more is nothing that anybody explains itself with. */
const LONGEST = 64 * 1024

/** Addresses may hold keys, and requests what people said. */
const NOBODYS = { url: '', requestBodyValues: {} }

/** For the packages, which would find no end in such an answer and forget what it said. */
export function explainNonStream(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || response.body === null || !/^(?:text\/html|application\/json)\b/iu.test(type)) return response
    const { body, text } = await peeked(response.body)
    refusePage(text)
    refuseFailure(text)
    return new Response(body, { status: response.status, headers: response.headers })
  }
}

/** Its beginning, and all of it once more. Some stream under the name of JSON: of these no more than the first bytes are waited for. */
async function peeked(stream: ReadableStream<Uint8Array>): Promise<{ body: ReadableStream<Uint8Array>; text: string }> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  const seen: Uint8Array[] = []
  let text = ''
  while (/^\s*(?:[<{]|$)/u.test(text) && text.length < LONGEST) {
    const { done, value } = await reader.read()
    if (done) break
    seen.push(value)
    text += decoder.decode(value, { stream: true })
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = seen.length > 0 ? { done: false, value: seen.shift() } : await reader.read()
        if (done || value === undefined) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return { body, text }
}

function refusePage(text: string): void {
  if (!/^\s*</u.test(text)) return
  const title = titleIn(text)
  const page = title === undefined ? 'a web page' : `the web page “${title}”`
  // With data of its own it is no answer that broke off.
  const message = `it answered with ${page}; is its address right?`
  throw new APICallError({ message, ...NOBODYS, statusCode: 200, data: {}, isRetryable: false })
}

function refuseFailure(text: string): void {
  const error = errorIn(text)
  if (error === undefined || error === null) return
  const code = typeof error === 'object' && 'code' in error ? error.code : undefined
  const statusCode = typeof code === 'number' && code >= 400 && code < 600 ? code : 500
  throw new APICallError({ message: '', ...NOBODYS, statusCode, responseBody: text, data: {} })
}

function errorIn(text: string): unknown {
  try {
    const said: unknown = JSON.parse(text)
    return typeof said === 'object' && said !== null && 'error' in said ? said.error : undefined
  } catch {
    return undefined
  }
}
