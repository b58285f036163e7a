/** How a new server is asked to go on with a session where the client was left. */
import { type Fields, fieldsOf, requestLine } from './messages.ts'
import { discardedId } from './state/internal-requests.ts'
import type { OpenCall, OpenPrompt } from './state/client-requests.ts'
import type { OpenSession } from './state/open-sessions.ts'

/** Parameters of a `session/resume`: what came after the entry that was seen last, and the ends of the prompts that wait. */
export function resumption(view: OpenSession, prompts: readonly OpenPrompt[]): Fields {
  return { ...view.opening, _meta: { ...after(view), ...adopting(prompts, view.ended) } }
}

/** The client's own load or resume again, without what has come of its answer already. */
export function repeated(call: OpenCall, view: OpenSession | undefined, prompts: readonly OpenPrompt[]): Buffer {
  if (view?.isOpen === true || !isOpening(call)) return call.line
  const { id, method, params } = call
  const goingOn = view === undefined ? adopting(prompts, []) : { ...after(view), ...adopting(prompts, view.ended) }
  return requestLine(id, method, { ...params, _meta: { ...fieldsOf(params['_meta']), ...goingOn } })
}

export function isOpening({ method }: Pick<OpenCall, 'method'>): boolean {
  return method === 'session/load' || method === 'session/resume'
}

function after({ cursor }: OpenSession): Fields {
  return cursor === undefined ? {} : { 'parley/after': cursor }
}

/** Also those that were answered and whose ends lie beyond the cursor: the client is not told of them as of a stranger's. */
function adopting(prompts: readonly OpenPrompt[], ended: readonly string[]): Fields {
  return {
    'parley/prompts': [
      ...prompts.map(({ id, promptId }) => ({ requestId: id, promptId })),
      ...ended.map((promptId, index) => ({ requestId: discardedId(index), promptId })),
    ],
  }
}
