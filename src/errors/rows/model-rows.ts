/** The errors of language models: rows of the catalogue. A provider's own words are quoted without secrets. */
import { CANCELLED, INTERNAL, INVALID_PARAMS, row } from '../row.ts'

export interface RequestedModel {
  /** Full: `provider:name`. */
  readonly model: string
  /** The provider's name for users. */
  readonly provider: string
}

export const modelRows = {
  MODEL_UNKNOWN: row<{ model: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no model ${JSON.stringify(d.model)}: ${d.reason}. See which there are with: parley models`,
  ),
  MODEL_KEY_MISSING: row<RequestedModel & { variable: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${d.provider} needs a key for ${d.model}. Type export ${d.variable}=YOUR_KEY in the shell that you start Parley or your editor from, then prompt again from there.`,
  ),
  MODEL_KEY: row<RequestedModel & { variable: string }>(
    INTERNAL,
    false,
    (d) =>
      `${d.provider} refused the key for ${d.model}. Type export ${d.variable}=YOUR_KEY with the right one in the shell that you start Parley or your editor from, then prompt again from there.`,
  ),
  MODEL_QUOTA: row<RequestedModel>(
    INTERNAL,
    false,
    (d) =>
      `The account at ${d.provider} has no credit or quota left for ${d.model}. Check its balance and limits, or choose another model.`,
  ),
  MODEL_RATE_LIMIT: row<RequestedModel & { retryAfterMs?: number }>(
    INTERNAL,
    true,
    (d) => `The rate limit of ${d.provider} for ${d.model} is reached. Try again ${whenAgain(d)}.`,
  ),
  MODEL_OVERLOADED: row<RequestedModel & { retryAfterMs?: number }>(
    INTERNAL,
    true,
    (d) => `${d.provider} cannot serve ${d.model} right now: it is overloaded or failing. Try again ${whenAgain(d)}.`,
  ),
  MODEL_CONTEXT: row<RequestedModel>(
    INVALID_PARAMS,
    false,
    (d) =>
      `The conversation is longer than the context window of ${d.model}. Shorten it, or choose a model with a larger one.`,
  ),
  MODEL_NETWORK: row<RequestedModel & { reason: string }>(
    INTERNAL,
    true,
    (d) =>
      `${d.provider} cannot be reached for ${d.model}: ${d.reason}. Check that it runs, check the network, then try again.`,
  ),
  MODEL_ABSENT: row<RequestedModel & { reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.provider} cannot serve ${d.model}: ${d.reason}. Start it, check its URL, or choose another model.`,
  ),
  MODEL_CERTIFICATE: row<RequestedModel & { reason: string }>(
    INTERNAL,
    false,
    (d) =>
      `The certificate of ${d.provider} for ${d.model} is not trusted: ${d.reason}. Check the URL; for a certificate authority of your own, set NODE_EXTRA_CA_CERTS and restart the server.`,
  ),
  MODEL_STREAM: row<RequestedModel & { reason: string }>(
    INTERNAL,
    true,
    (d) => `The response from ${d.model} at ${d.provider} was incomplete or invalid: ${d.reason}. Try again.`,
  ),
  MODEL_IDLE: row<RequestedModel & { seconds: number }>(
    INTERNAL,
    true,
    (d) => `${d.provider} sent nothing for ${d.seconds} s while ${d.model} was answering. Try again.`,
  ),
  MODEL_REFUSED: row<RequestedModel & { words: string }>(
    INTERNAL,
    false,
    (d) => `${d.provider} refused the request for ${d.model}: ${d.words}`,
  ),
  MODEL_CANCELLED: row<RequestedModel>(
    CANCELLED,
    true,
    (d) => `The response of ${d.model} was cancelled before it was complete.`,
  ),
} as const

function whenAgain({ retryAfterMs }: { readonly retryAfterMs?: number }): string {
  if (typeof retryAfterMs !== 'number') return 'later'
  const minutes = retryAfterMs / 60_000
  if (minutes <= 1) return 'in a minute'
  return minutes <= 90 ? `in ${Math.ceil(minutes)} minutes` : `in ${Math.ceil(minutes / 60)} hours`
}
