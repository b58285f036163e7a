/**
 * Questions to the user besides permission, put by the client of the prompt and by no other. The journal gets that a question
 * was asked and how it ended, never the answer.
 */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { ClientPeer, Elicit, FormRequest, UrlAnswer, UrlRequest } from '../../ports/client-peer.ts'
import type { ElicitationAnswer } from '../../ports/values/elicitation.ts'
import type { Signal } from '../../ports/values/signal.ts'
import { assertElicitationSchema, parseElicitationContent } from './elicitation-form.ts'
import { type ClientUser, ONE_DAY_MS, withClientTimeout } from './client-request.ts'

const METHOD = 'elicitation'

interface Elicitation<Answer> {
  readonly mode: 'form' | 'url'
  readonly toolCallId: string | undefined
  readonly ask: (elicitationId: string, signal: Signal) => Promise<Answer>
}

/** The kinds of questions that this client can put to its user; undefined when there are none. */
export function elicitThrough({ form, url }: ClientPeer, user: ClientUser): Elicit | undefined {
  if (form === undefined && url === undefined) return undefined
  return {
    ...(form === undefined ? {} : { form: (request: FormRequest) => elicitForm(request, form, user) }),
    ...(url === undefined ? {} : { url: (request: UrlRequest) => elicitUrl(request, url, user) }),
  }
}

async function elicitForm(
  request: FormRequest,
  form: NonNullable<ClientPeer['form']>,
  user: ClientUser,
): Promise<ElicitationAnswer> {
  const { schema, toolCallId } = request
  assertElicitationSchema(schema)
  const ask = async (_id: string, signal: Signal): Promise<ElicitationAnswer> => {
    const { action, content } = await form(request, signal)
    return action === 'accept' ? { action, content: parseElicitationContent(schema, content) } : { action }
  }
  return elicit({ mode: 'form', toolCallId, ask }, user)
}

async function elicitUrl(
  request: UrlRequest,
  url: NonNullable<ClientPeer['url']>,
  user: ClientUser,
): Promise<UrlAnswer> {
  requireSafeUrl(request.url)
  const ask = (elicitationId: string, signal: Signal) => url({ ...request, elicitationId }, signal)
  return elicit({ mode: 'url', toolCallId: request.toolCallId, ask }, user)
}

/** The user may take a day to answer; a cancel of the turn ends the question. */
async function elicit<Answer extends { readonly action: ElicitationAnswer['action'] }>(
  { mode, toolCallId, ask }: Elicitation<Answer>,
  user: ClientUser,
): Promise<Answer> {
  const elicitationId = user.ports.clock.id()
  const of = toolCallId === undefined ? {} : { toolCallId }
  const isStored = await user.store({ kind: 'elicitation', elicitationId, mode, ...of })
  if (!isStored) return fail('CLIENT_CANCELLED', { method: METHOD })
  try {
    const limits = { method: METHOD, timeoutMs: ONE_DAY_MS }
    const answer = await withClientTimeout(limits, user, (signal) => ask(elicitationId, signal))
    await user.store({ kind: 'elicited', elicitationId, outcome: answer.action })
    return answer
  } catch (error) {
    const outcome = isParleyError(error, 'CLIENT_CANCELLED') ? 'cancel' : 'failed'
    await user.store({ kind: 'elicited', elicitationId, outcome })
    throw error
  }
}

/** `http:` only to this machine, and no user name or password in the URL. */
function requireSafeUrl(url: string): void {
  const [, scheme = '', authority = ''] = /^(https?):\/\/([^/?#\\\s]+)(?:[/?#]\S*)?$/iu.exec(url) ?? []
  if (authority === '') refuseUrl('the URL is not an http or https URL')
  if (authority.includes('@')) refuseUrl('the URL contains a user name or a password')
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/iu.test(authority)
  if (scheme.toLowerCase() === 'http' && !isLocal) refuseUrl('the URL is not https')
}

function refuseUrl(reason: string): never {
  return fail('ELICITATION_INVALID', { reason })
}
