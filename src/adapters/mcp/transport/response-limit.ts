/** Cuts an answer off that is larger than anything that could be kept or shown. */
import { isStream } from './read-throttle.ts'

/** Far more than a result may hold. */
const LIMIT_BYTES = 64 * 1024 * 1024
const BLANK_LINES = ['\n\n', '\r\r', '\r\n\r\n'] as const

/** Of a stream each event counts, of anything else the whole. */
export function limitResponse(response: Response): Response {
  if (response.body === null) return response
  const measure = isStream(response) ? eventSize() : totalSize()
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (measure(chunk) > LIMIT_BYTES) throw new Error(`the answer is longer than ${LIMIT_BYTES} bytes`)
      controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers })
}

type Measure = (chunk: Uint8Array) => number

function totalSize(): Measure {
  let size = 0
  return (chunk) => (size += chunk.length)
}

/** A blank line ends an event; it may come in two pieces. */
function eventSize(): Measure {
  let size = 0
  let tail = ''
  return (chunk) => {
    const text = tail + Buffer.from(chunk).toString('latin1')
    const end = Math.max(...BLANK_LINES.map((blank) => text.lastIndexOf(blank)))
    tail = text.slice(-3)
    size = end === -1 ? size + chunk.length : text.length - end
    return size
  }
}
