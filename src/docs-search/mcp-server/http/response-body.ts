/** Turns a response into what the client accepts: one JSON body, or a stream that ends when the client disconnects. */
import { refusal } from './refusal.ts'

/** Collects the responses in a stream into one body, for clients that do not accept a stream. */
export async function asJson(answer: Response, batch: boolean): Promise<Response> {
  const events = (await answer.text()).split('\n\n').map((event) => /^data: (.+)$/m.exec(event)?.[1])
  const answers = events.filter((data) => data !== undefined).filter(isAnswer)
  // Only a session that ended meanwhile leaves a request without its answer.
  if (answers[0] === undefined) return refusal('sessionUnknown')
  const headers = new Headers({ 'Content-Type': 'application/json' })
  const session = answer.headers.get('mcp-session-id')
  if (session !== null) headers.set('mcp-session-id', session)
  return new Response(batch ? `[${answers.join(',')}]` : answers[0], { headers })
}

function isAnswer(data: string): boolean {
  const message = JSON.parse(data) as object
  return 'result' in message || 'error' in message
}

/** The end of the HTTP exchange ends the stream: nothing else notices that the client has disconnected. */
export function endingWith(answer: Response, over: Promise<void>): Response {
  const reader = answer.body?.getReader()
  if (reader === undefined) return answer
  void over.then(() => reader.cancel()).catch(() => undefined)
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return new Response(body, { status: answer.status, headers: answer.headers })
}
