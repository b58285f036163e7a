/** Reads a script: its agent's offer, and one step per line of JSON. `docs/script.md` shows the format. */
import { PERMISSIVE_MODES } from '../../../path-rules/permissive-modes.ts'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import type { StopReason } from '../../../ports/agent.ts'
import type { FileRange, FileText, FormRequest, TerminalCommand, UrlRequest } from '../../../ports/client-peer.ts'
import type {
  CompactionPatch,
  Content,
  Notice,
  PermissionOption,
  PlanEntry,
  SlashCommand,
  ToolCallPatch,
  Usage,
} from '../../../ports/values/content.ts'
import { type ConfigValue } from '../../../ports/values/settings.ts'
import {
  type ScriptOffer,
  NO_OFFER,
  requireMode,
  requireValue,
  contentBlock,
  given,
  list,
  object,
  requiredChoice,
  only,
  optionalText,
  requiredText,
  toolCallPatch,
  requiredInteger,
  numberedLines,
  offerIn,
} from './offer.ts'
import type { Fields } from '../../../rpc/json-rpc.ts'

export type ScriptStep =
  | { readonly kind: 'chunk'; readonly text: string; readonly times: number; readonly everyMs: number }
  | { readonly kind: 'content'; readonly content: Content }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ScriptedCall }
  | { readonly kind: 'report'; readonly toolCallId: string | undefined; readonly patch: ToolCallPatch }
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly kind: 'permission'; readonly permission: Permission }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'fail'; readonly reason: string }
  | { readonly kind: 'end'; readonly stopReason: StopReason }
  | { readonly kind: 'client'; readonly request: ScriptedRequest }
  | SessionStep

export interface Script {
  readonly offer: ScriptOffer
  readonly steps: readonly ScriptStep[]
}

/** A call of a tool in the registry, by its registry name or its server's own. */
export interface ScriptedCall {
  readonly name: string
  readonly args: unknown
  readonly toolCallId: string | undefined
  /** Rules, mode and user decide whether it runs, as for any agent. Absent, the script has decided. */
  readonly isAsked?: true
}

export interface Permission {
  readonly toolCallId: string | undefined
  readonly patch: ToolCallPatch
  readonly options: readonly PermissionOption[]
  /** The call that runs once the user allows it. */
  readonly call: ScriptedCall | undefined
}

/** Throws SCRIPT_INVALID with the number of the line that cannot be played, or for which `assertAllowed` throws. Skips empty lines. */
export function parseScript(
  path: string,
  source: string,
  assertAllowed: (what: ScriptOffer | ScriptStep) => void = () => undefined,
): Script {
  const lines = numberedLines(source)
  const read = <Result>(number: number, reading: () => Result): Result => {
    try {
      return reading()
    } catch (error) {
      return fail('SCRIPT_INVALID', { path, line: number, reason: reasonOf(error) }, error)
    }
  }
  const [first, ...others] = lines
  const own = first === undefined ? undefined : read(first.number, () => offerIn(first.line))
  const offer = own ?? NO_OFFER
  const played = own === undefined ? lines : others
  const steps = played.map(({ line, number }) => read(number, () => stepOf(JSON.parse(line), offer)))
  read(1, () => assertAllowed(offer))
  for (const [index, step] of steps.entries()) read(played[index]?.number ?? 1, () => assertAllowed(step))
  return { offer, steps }
}

/** Steps by the key of their line. */
const STEPS: Readonly<Record<string, (fields: Fields) => ScriptStep>> = {
  chunk,
  thought: (fields) => ({ kind: 'thought', text: requiredText(fields, 'thought') }),
  toolCall: (fields) => toolCall(object(fields['toolCall'], 'toolCall')),
  plan: (fields) => ({ kind: 'plan', entries: planEntries(fields['plan']) }),
  permission: (fields) => ({ kind: 'permission', permission: permission(object(fields['permission'], 'permission')) }),
  sleepMs: (fields) => ({ kind: 'sleep', ms: requiredInteger(fields, 'sleepMs') }),
  fail: (fields) => ({ kind: 'fail', reason: requiredText(fields, 'fail') }),
  end: (fields) => ({ kind: 'end', stopReason: stopReasonOf(requiredChoice(STOP_REASONS, fields['end'], 'end')) }),
}

/** Scripts use the words of ACP. */
const STOP_REASONS = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const

function stopReasonOf(name: (typeof STOP_REASONS)[number]): StopReason {
  return name === 'max_turn_requests' ? 'max_steps' : name
}

function stepOf(line: unknown, offer: ScriptOffer): ScriptStep {
  const fields = object(line, 'a line')
  if ('agent' in fields) throw new Error('only the first line says what the agent offers')
  for (const [key, step] of Object.entries(STEPS)) if (key in fields) return step(fields)
  for (const [key, step] of Object.entries(SESSION_STEPS)) if (key in fields) return step(fields[key], offer)
  for (const [key, request] of Object.entries(CLIENT_REQUESTS))
    if (key in fields) return { kind: 'client', request: request(fields[key]) }
  const known = [STEPS, SESSION_STEPS, CLIENT_REQUESTS].flatMap((steps) => Object.keys(steps))
  throw new Error(`it has none of ${known.join(', ')}`)
}

function chunk(fields: Fields): ScriptStep {
  if (typeof fields['chunk'] === 'object') return { kind: 'content', content: contentBlock(fields['chunk']) }
  const [times, everyMs] = [requiredInteger(fields, 'times', 1), requiredInteger(fields, 'everyMs', 0)]
  return { kind: 'chunk', text: requiredText(fields, 'chunk'), times, everyMs }
}

const REPORTED = ['status', 'content', 'rawOutput', 'kind', 'locations', 'title'] as const

/** A line with `arguments` is a call. A line with a field that only a report has is a report. */
function toolCall(fields: Fields): ScriptStep {
  const isCall = 'arguments' in fields || ('name' in fields && !REPORTED.some((key) => key in fields))
  if (isCall) return { kind: 'call', call: call(fields) }
  const { toolCallId, ...patch } = fields
  return { kind: 'report', toolCallId: optionalText(toolCallId, 'toolCallId'), patch: toolCallPatch(patch) }
}

function call(fields: Fields): ScriptedCall {
  const toolCallId = optionalText(fields['toolCallId'], 'toolCallId')
  const isAsked = fields['ask'] === true ? { isAsked: true as const } : {}
  return { name: requiredText(fields, 'name'), args: fields['arguments'] ?? {}, toolCallId, ...isAsked }
}

const DEFAULT_OPTIONS: readonly PermissionOption[] = [
  { optionId: 'allow_once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
]

/** `{title?, toolCallId?, toolCall?, options?}`; with a `toolCall` that is a call, the call runs once allowed. */
function permission(fields: Fields): Permission {
  const subject = fields['toolCall'] === undefined ? {} : object(fields['toolCall'], 'toolCall')
  const about = { ...subject, ...fields } as Fields
  const { toolCall: _subject, options, name: _name, arguments: _args, toolCallId, ...patch } = about
  const step = 'name' in subject ? call(subject) : undefined
  const title = optionalText(about['title'], 'title') ?? step?.name ?? 'May this go on?'
  return {
    toolCallId: optionalText(toolCallId, 'toolCallId'),
    patch: { ...toolCallPatch(patch), title },
    options: options === undefined ? DEFAULT_OPTIONS : list(options, 'options').map(option),
    call: step,
  }
}

function option(value: unknown): PermissionOption {
  const fields = object(value, 'an option')
  const kind = requiredChoice(
    ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const,
    fields['kind'],
    'kind',
  )
  const optionId = requiredText(fields, 'optionId')
  return { optionId, kind, name: optionalText(fields['name'], 'name') ?? optionId }
}

function planEntries(value: unknown): readonly PlanEntry[] {
  return list(value, 'plan').map((entry) => {
    if (typeof entry === 'string') return { content: entry, priority: 'medium', status: 'pending' }
    const fields = object(entry, 'a plan entry')
    const priority = requiredChoice(['high', 'medium', 'low'] as const, fields['priority'] ?? 'medium', 'priority')
    const status = requiredChoice(
      ['pending', 'in_progress', 'completed'] as const,
      fields['status'] ?? 'pending',
      'status',
    )
    return { content: requiredText(fields, 'content'), priority, status }
  })
}

/** Says something about the agent or the session, outside the conversation. */
export type SessionStep =
  | { readonly kind: 'mode'; readonly modeId: string }
  | { readonly kind: 'config'; readonly configId: string; readonly value: ConfigValue }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'commands'; readonly commands: readonly SlashCommand[] }
  | { readonly kind: 'notice'; readonly notice: Notice }
  | { readonly kind: 'compaction'; readonly compactionId: string; readonly patch: CompactionPatch }
  | { readonly kind: 'summary'; readonly compactionId: string; readonly content: Content }

/** Session steps by the key of their line. They can only set what the agent offers. */
const SESSION_STEPS: Readonly<Record<string, (value: unknown, offer: ScriptOffer) => SessionStep>> = {
  mode: (value, offer) => ({ kind: 'mode', modeId: requireMode(offer, requiredText({ mode: value }, 'mode')) }),
  config: (value, offer) => config(object(value, 'config'), offer),
  usage: (value) => ({ kind: 'usage', usage: usage(given(object(value, 'usage'))) }),
  title: (value) => ({ kind: 'title', title: requiredText({ title: value }, 'title') }),
  commands: (value) => ({ kind: 'commands', commands: list(value, 'commands').map(command) }),
  notice: (value) => ({ kind: 'notice', notice: notice(given(object(value, 'notice'))) }),
  compaction: (value) => compaction(given(object(value, 'compaction'))),
}

function config(fields: Fields, offer: ScriptOffer): SessionStep {
  only(fields, ['configId', 'value'], 'config')
  const configId = requiredText(fields, 'configId')
  return { kind: 'config', configId, value: requireValue(offer, configId, fields['value']) }
}

function usage(fields: Fields): Usage {
  only(fields, ['used', 'size', 'cost'], 'usage')
  const { cost } = fields
  const usage = { used: requiredInteger(fields, 'used'), size: requiredInteger(fields, 'size') }
  return cost === undefined ? usage : { ...usage, cost: costOf(object(cost, 'cost')) }
}

function costOf(fields: Fields): NonNullable<Usage['cost']> {
  const { amount } = only(fields, ['amount', 'currency'], 'cost')
  if (typeof amount !== 'number') throw new Error('amount must be a number')
  return { amount, currency: requiredText(fields, 'currency') }
}

function command(value: unknown): SlashCommand {
  const fields = only(given(object(value, 'a command')), ['name', 'description', 'hint'], 'a command')
  const hint = optionalText(fields['hint'], 'hint')
  return {
    name: requiredText(fields, 'name'),
    description: requiredText(fields, 'description'),
    ...(hint !== undefined && { hint }),
  }
}

/** `message` is an alias of `title`. */
function notice(fields: Fields): Notice {
  only(fields, ['severity', 'title', 'message', 'description'], 'a notice')
  const { severity = 'info', message, title = message, description, _meta } = fields
  const said = optionalText(description, 'description')
  if (requiredText({ title }, 'title') === '') throw new Error('title must not be empty')
  return {
    severity: requiredText({ severity }, 'severity'),
    title: requiredText({ title }, 'title'),
    ...(said !== undefined && { description: said }),
    ...(_meta !== undefined && { meta: object(_meta, '_meta') }),
  }
}

const STATUSES = ['in_progress', 'completed', 'failed', 'cancelled'] as const

/** With a `chunk` it adds to the summary; without one it sets the status of the compaction. */
function compaction(fields: Fields): SessionStep {
  only(fields, ['compactionId', 'status', 'summary', 'error', 'chunk'], 'a compaction')
  const { compactionId = 'compaction', chunk, status = 'in_progress', summary, error } = fields
  const id = requiredText({ compactionId }, 'compactionId')
  if (chunk !== undefined) return { kind: 'summary', compactionId: id, content: block(chunk) }
  const state = requiredChoice(STATUSES, status, 'status')
  if (summary !== undefined && state !== 'completed') throw new Error('only a completed compaction has a summary')
  if (error !== undefined && state !== 'failed') throw new Error('only a failed compaction has an error')
  const why = optionalText(error, 'error')
  const patch = {
    status: state,
    ...(summary !== undefined && { summary: list(summary, 'summary').map(block) }),
    ...(why !== undefined && { error: why }),
  }
  return { kind: 'compaction', compactionId: id, patch }
}

/** A plain string is text content. */
function block(value: unknown): Content {
  return typeof value === 'string' ? { type: 'text', text: value } : contentBlock(value)
}

export type ScriptedRequest =
  | { readonly kind: 'readFile'; readonly file: FileRange }
  | { readonly kind: 'writeFile'; readonly file: FileText }
  | { readonly kind: 'terminal'; readonly command: TerminalCommand; readonly timeoutMs: number | undefined }
  | { readonly kind: 'form'; readonly form: FormRequest }
  | { readonly kind: 'url'; readonly page: UrlRequest; readonly completes: boolean }

/** Whether the user sees it and answers it. */
export function isForPerson({ kind }: ScriptedRequest): boolean {
  return kind === 'form' || kind === 'url'
}

/** Requests to the client by the key of their line. */
const CLIENT_REQUESTS: Readonly<Record<string, (value: unknown) => ScriptedRequest>> = {
  readFile: (value) => ({ kind: 'readFile', file: fileRange(given(object(value, 'readFile'))) }),
  writeFile: (value) => ({ kind: 'writeFile', file: fileText(given(object(value, 'writeFile'))) }),
  terminal: (value) => terminal(given(object(value, 'terminal'))),
  elicit: (value) => elicit(given(object(value, 'elicit'))),
}

function fileRange(fields: Fields): FileRange {
  only(fields, ['path', 'line', 'limit'], 'readFile')
  return { path: requiredText(fields, 'path'), ...wholes(fields, ['line', 'limit']) }
}

function fileText(fields: Fields): FileText {
  only(fields, ['path', 'content'], 'writeFile')
  return { path: requiredText(fields, 'path'), content: requiredText(fields, 'content') }
}

function terminal(fields: Fields): ScriptedRequest {
  only(fields, ['command', 'args', 'env', 'cwd', 'outputByteLimit', 'timeoutMs'], 'terminal')
  const { args, env, cwd } = fields
  const command = {
    command: requiredText(fields, 'command'),
    ...(args !== undefined && { args: list(args, 'args').map((arg) => requiredText({ arg }, 'arg')) }),
    ...(env !== undefined && { env: variables(object(env, 'env')) }),
    ...(cwd !== undefined && { cwd: requiredText(fields, 'cwd') }),
    ...wholes(fields, ['outputByteLimit']),
  }
  return { kind: 'terminal', command, timeoutMs: wholes(fields, ['timeoutMs']).timeoutMs }
}

function variables(env: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(env).map((name) => [name, requiredText(env, name)]))
}

/** With a `url` the user opens a page, without one the user fills in a form. */
function elicit(fields: Fields): ScriptedRequest {
  only(fields, ['message', 'schema', 'url', 'complete'], 'elicit')
  const { url, complete = false } = fields
  const message = requiredText(fields, 'message')
  if (url === undefined) return { kind: 'form', form: { message, schema: object(fields['schema'], 'schema') } }
  if (typeof complete !== 'boolean') throw new Error('complete must be true or false')
  return { kind: 'url', page: { message, url: requiredText(fields, 'url') }, completes: complete }
}

/** The whole numbers among these fields that are present. */
function wholes<Key extends string>(fields: Fields, keys: readonly Key[]): Readonly<Partial<Record<Key, number>>> {
  const there = keys.filter((key) => fields[key] !== undefined)
  return Object.fromEntries(there.map((key) => [key, requiredInteger(fields, key)])) as Partial<Record<Key, number>>
}

/**
 * A script that a file names, and not the user, cannot give itself a permission: its agent cannot begin in a permissive mode
 * and no step can switch to one. The user still can.
 */
export function assertUnprivileged(what: ScriptOffer | ScriptStep): void {
  if (modesIn(what).some((mode) => PERMISSIVE_MODES.has(String(mode))))
    throw new Error('only a script that --agent or PARLEY_AGENT names may set the mode accept-edits or allow-all')
}

/** An option can stand for the mode. */
function modesIn(what: ScriptOffer | ScriptStep): readonly unknown[] {
  if (!('kind' in what))
    return [what.modes?.currentModeId, ...what.configOptions.map(({ currentValue }) => currentValue)]
  if (what.kind === 'mode') return [what.modeId]
  return what.kind === 'config' ? [what.value] : []
}
