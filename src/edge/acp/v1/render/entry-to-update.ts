/** Turns an entry of the journal into the `session/update` that ACP v1 has for it, if there is one, and puts its position into `_meta`. */
import { reasonOf } from '../../../../errors/parley-error.ts'
import type {
  CompactionPatch,
  Content,
  Meta,
  Notice,
  SlashCommand,
  ToolCallContent,
  ToolCallPatch,
  Usage,
} from '../../../../ports/values/content.ts'
import type { Choice, ChoiceGroup, ConfigOption, Modes, Settings } from '../../../../ports/values/settings.ts'
import type { Entry, ForkPoint } from '../../../../session/domain/entries.ts'
import type { SessionView } from '../../../../session/handle.ts'
import { type DisplayCapabilities, FULL_DISPLAY } from '../initialize/client-capabilities.ts'
import { type PlaceMeta, PlacedEntries } from './places.ts'

export type Update = { readonly sessionUpdate: string } & Readonly<Record<string, unknown>>

const INTERRUPTED =
  'Interrupted: the server stopped while it was working on this. What was said until then is kept; prompt again to continue.'

/** Undefined for an entry that v1, or this client, has no update for. Never throws: an entry that cannot be shown becomes a sentence. */
export function updateOf(entry: Entry, display: DisplayCapabilities = FULL_DISPLAY): Update | undefined {
  return showing(entry, () => updateFor(entry, display))
}

/** The update of a tool call for the client that has the terminals of `isOwn`. Never throws either. */
export function callUpdate(entry: CallEntry, isOwn: (terminalId: string) => boolean): Update {
  return showing(entry, () => callUpdateOf(entry, isOwn))
}

/** An entry may come from a damaged journal or from another version of Parley. The entries after it must be sent all the same. */
function showing<Shown extends Update | undefined>({ seq }: Entry, show: () => Shown): Shown | Update {
  try {
    return show()
  } catch (error) {
    const text = `Entry ${seq} of this session could not be shown (${reasonOf(error)}). It is stored as it is.`
    return spoken(text, `entry-${seq}`)
  }
}

function updateFor(entry: Entry, display: DisplayCapabilities): Update | undefined {
  switch (entry.kind) {
    case 'message_chunk':
      return chunkUpdate(entry)
    case 'tool_call':
    case 'tool_call_patched':
      return callUpdateOf(entry, () => false)
    case 'plan':
      return { sessionUpdate: 'plan', entries: entry.entries }
    case 'title':
      return titleUpdate(entry.title)
    case 'commands':
      return commandsUpdate(entry.commands)
    case 'forked_from':
      return forkedUpdate(entry.from)
    case 'mode':
      return { sessionUpdate: 'current_mode_update', currentModeId: entry.modeId }
    case 'config_options':
      return {
        sessionUpdate: 'config_option_update',
        configOptions: shownOptions(entry.configOptions, display).map(optionOut),
      }
    case 'usage':
      return usageUpdate(entry.usage)
    case 'compaction':
    case 'compaction_summary':
      return display.compaction ? compactionUpdate(entry) : undefined
    case 'foreign':
      return foreignUpdate(entry)
    case 'notice':
      return spoken(entry.text, `notice-${entry.seq}`)
    case 'turn_ended':
      return isSpokenEnd(entry) ? spokenEnd(entry) : silentEnd(entry, display)
    default:
      return undefined
  }
}

/** The update of an external agent, if that agent speaks this version of ACP. Clients may know it although Parley does not. */
function foreignUpdate({ protocol, update }: Entry & { readonly kind: 'foreign' }): Update | undefined {
  return protocol === 'acp/v1' && isUpdate(update) && !OWN_UPDATES.has(update.sessionUpdate) ? update : undefined
}

function isUpdate(update: unknown): update is Update {
  return (
    typeof update === 'object' &&
    update !== null &&
    'sessionUpdate' in update &&
    typeof update.sessionUpdate === 'string'
  )
}

function callUpdateOf(entry: CallEntry, isOwn: (terminalId: string) => boolean): Update {
  const { toolCallId } = entry
  return entry.kind === 'tool_call'
    ? { sessionUpdate: 'tool_call', toolCallId, ...callOut(entry.call, isOwn) }
    : { sessionUpdate: 'tool_call_update', toolCallId, ...callOut(entry.patch, isOwn) }
}

/** v1 has no status for a cancelled call; its content says that it was cancelled. */
export function callOut(patch: ToolCallPatch, isOwn: (terminalId: string) => boolean): object {
  const { content, ...rest } = patch
  const known = patch.status === 'cancelled' ? ({ ...rest, status: 'failed' } as const) : rest
  return { ...callMetaOut(known), ...(content && { content: content.map((one) => terminalOrText(one, isOwn)) }) }
}

/**
 * The entries of a page that a replay does not send. Of titles, commands and usage all but the latest, which keeps its place, so
 * that every update has a `seq` of its own. All modes and options: the response carries them as they are by then.
 */
export function hiddenInReplay(entries: readonly Entry[]): ReadonlySet<Entry> {
  const hidden = new Set<Entry>()
  const latest = new Map<Entry['kind'], Entry>()
  for (const entry of entries) {
    const { kind } = entry
    if (IN_RESPONSE.has(kind)) hidden.add(entry)
    if (!REPLACING.has(kind)) continue
    const former = latest.get(kind)
    if (former !== undefined) hidden.add(former)
    latest.set(kind, entry)
  }
  return hidden
}

const IN_RESPONSE: ReadonlySet<Entry['kind']> = new Set(['modes', 'mode', 'config_options'])
const REPLACING: ReadonlySet<Entry['kind']> = new Set(['title', 'commands', 'usage'])

/** Title, commands and usage as they are now, for a client that gets no replay. */
export function stateUpdates({
  title,
  commands,
  usage,
}: Pick<SessionView, 'title' | 'commands' | 'usage'>): readonly Update[] {
  return [
    ...(title === null ? [] : [titleUpdate(title)]),
    ...(commands.length === 0 ? [] : [commandsUpdate(commands)]),
    ...(usage === null ? [] : [usageUpdate(usage)]),
  ]
}

/** Modes and options for the response that opens a session; empty for an agent without settings. */
export function settingsResult({ modes, configOptions }: Settings, display: DisplayCapabilities) {
  const shown = shownOptions(configOptions, display)
  return {
    ...(modes !== null && { modes: modesOut(modes) }),
    ...(shown.length > 0 && { configOptions: shown.map(optionOut) }),
  }
}

/** All that this client can show, in the agent's order. */
export function shownOptions(
  options: readonly ConfigOption[],
  { booleans }: DisplayCapabilities,
): readonly ConfigOption[] {
  return booleans ? options : options.filter(({ type }) => type !== 'boolean')
}

export function noticeUpdate(notice: Notice): Update {
  return { sessionUpdate: 'notice', ...metaOut(notice) }
}

function usageUpdate(usage: Usage): Update {
  return { sessionUpdate: 'usage_update', ...usage }
}

function compactionUpdate(entry: Entry & { readonly kind: 'compaction' | 'compaction_summary' }): Update {
  const { compactionId } = entry
  return entry.kind === 'compaction'
    ? { sessionUpdate: 'compaction_update', compactionId, ...compactionOut(entry.patch) }
    : { sessionUpdate: 'compaction_summary_chunk', compactionId, content: contentOut(entry.content) }
}

function compactionOut({ summary, ...patch }: CompactionPatch): object {
  return { ...metaOut(patch), ...(summary && { summary: summary.map(contentOut) }) }
}

/** Parley sends these itself. One that an agent or an imported file slipped in could contradict them, such as the current mode. */
const OWN_UPDATES: ReadonlySet<string> = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
  'usage_update',
  'notice',
  'compaction_update',
  'compaction_summary_chunk',
])

function chunkUpdate(entry: Entry & { readonly kind: 'message_chunk' }): Update {
  const { role, content, messageId } = entry
  const attached = role === 'user' && entry.meta !== undefined ? { _meta: entry.meta } : {}
  return { sessionUpdate: CHUNK_OF[role], content: contentOut(content), messageId, ...attached }
}

const CHUNK_OF = { user: 'user_message_chunk', agent: 'agent_message_chunk', thought: 'agent_thought_chunk' } as const

function titleUpdate(title: string): Update {
  return { sessionUpdate: 'session_info_update', title }
}

/** v1 has no update for that either. */
function forkedUpdate({ session: sessionId, seq }: ForkPoint): Update {
  return { sessionUpdate: 'session_info_update', _meta: { 'parley/forkedFrom': { sessionId, seq } } }
}

/** A client has closed, deleted or reopened the session. v1 has no update for that, so it stands in `_meta`. */
export function phaseUpdate(phase: SessionView['phase'] | 'deleted'): Update {
  return { sessionUpdate: 'session_info_update', _meta: { 'parley/phase': phase } }
}

function commandsUpdate(commands: readonly SlashCommand[]): Update {
  const availableCommands = commands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint === undefined ? {} : { input: { hint } }),
  }))
  return { sessionUpdate: 'available_commands_update', availableCommands }
}

/** By its name in ACP. */
export function stopReasonOut(stopReason: TurnEnded['stopReason']): string {
  return stopReason === 'max_steps' ? 'max_turn_requests' : stopReason
}

type TurnEnded = Entry & { readonly kind: 'turn_ended' }

/** In v1 only the response to the prompt shows how a turn ended. Other clients, and later loads, read it as a message. */
export function isSpokenEnd({ stopReason }: TurnEnded): boolean {
  return stopReason === 'interrupted' || stopReason === 'error'
}

function spokenEnd({ turnId, stopReason, error }: TurnEnded): Update {
  const text =
    stopReason === 'interrupted'
      ? (error?.message ?? INTERRUPTED)
      : `This turn failed: ${error?.message ?? 'the reason is not known.'}`
  return spoken(text, `${turnId}-end`)
}

/** A turn that a person, the agent or a limit has stopped; v1 has no update for that, so only a client that wants places gets it. */
function silentEnd({ stopReason, by }: TurnEnded, { places }: DisplayCapabilities): Update | undefined {
  if (!places || stopReason === 'end_turn') return undefined
  return {
    sessionUpdate: 'session_info_update',
    _meta: { 'parley/end': { stopReason: stopReasonOut(stopReason), ...(by !== undefined && { by }) } },
  }
}

function spoken(text: string, messageId: string): Update {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId }
}

/** True when the update differs between clients: only the one that has a terminal can show it. */
function hasTerminals(entry: Entry): boolean {
  return toolContent(entry).some(({ type }) => type === 'terminal')
}

export type CallEntry = Entry & { readonly kind: 'tool_call' | 'tool_call_patched' }

/** True when a client with these terminals can show at least one of them in this call. */
export function showsTerminals(entry: Entry, isOwn: (terminalId: string) => boolean): entry is CallEntry {
  return toolContent(entry).some((content) => content.type === 'terminal' && isOwn(content.terminalId))
}

/** The client that has a terminal gets its id; all others get its output as text. */
function terminalOrText(content: ToolCallContent, isOwn: (terminalId: string) => boolean): object {
  if (content.type === 'content') return { ...metaOut(content), content: contentOut(content.content) }
  if (content.type !== 'terminal') return metaOut(content)
  const { type, terminalId, output } = content
  if (isOwn(terminalId)) return { type, terminalId }
  return { type: 'content', content: { type: 'text', text: output ?? RUNS_ELSEWHERE } }
}

const RUNS_ELSEWHERE = 'This runs in a terminal of the client that asked for it.'

function toolContent(entry: Entry): readonly ToolCallContent[] {
  if (entry.kind === 'tool_call') return entry.call.content ?? []
  return entry.kind === 'tool_call_patched' ? (entry.patch.content ?? []) : []
}

// Values in the core's `meta`, and in fields that v1 does not know, are sent in `_meta`.

interface WithMeta {
  readonly meta?: Meta | null
}

/** The same object where it has no `meta`, as nearly all have. */
function metaOut<Value extends WithMeta>(value: Value): Omit<Value, 'meta'> {
  if (value.meta === undefined) return value
  const { meta, ...rest } = value
  return { ...rest, _meta: meta }
}

function contentOut(content: Content): object {
  return content.type === 'resource' ? metaOut({ ...content, resource: metaOut(content.resource) }) : metaOut(content)
}

/** Who decided about the call stands under a key of ours. */
function callMetaOut({ permission, meta, locations, ...call }: ToolCallPatch): object {
  const patch = { ...call, ...(locations && { locations: locations.map(metaOut) }) }
  const _meta = { ...meta, ...(permission && { 'parley/permission': permission }) }
  return permission === undefined && meta === undefined ? patch : { ...patch, _meta }
}

function modesOut({ currentModeId, availableModes }: Modes): object {
  return { currentModeId, availableModes: availableModes.map(metaOut) }
}

export function optionOut(option: ConfigOption): object {
  if (option.type !== 'select') return metaOut(option)
  const { allowsOther, configuredValue, meta, options, ...rest } = option
  const _meta = {
    ...meta,
    ...(allowsOther && { 'parley/open': true }),
    ...(configuredValue !== undefined && { 'parley/named': configuredValue }),
  }
  const shown = { ...rest, options: options.map(choiceOut) }
  return Object.keys(_meta).length === 0 ? shown : { ...shown, _meta }
}

function choiceOut(choice: Choice | ChoiceGroup): object {
  return 'group' in choice ? metaOut({ ...choice, options: choice.options.map(metaOut) }) : metaOut(choice)
}

/** The messages of one batch for all clients with the same display. */
interface SharedUpdates {
  readonly messages: readonly string[]
  /** The message of each entry; undefined for an entry without one. */
  readonly byEntry: readonly (string | undefined)[]
  /** Where each entry stands; empty for clients that do not want that. */
  readonly places: readonly PlaceMeta[]
  /** True when some clients get something else: prompts and terminals of their own, or permission requests that they were sent. */
  readonly isPersonal: boolean
}

/** One `session/update`; `place` is the cursor of a client that has it, or all that a client wants to know of its place. */
export function updateMessage(sessionId: string, update: Update, place: number | PlaceMeta): string {
  const session = JSON.stringify(sessionId)
  return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${session},"update":${JSON.stringify(update)},"_meta":${metaOf(place)}}}`
}

function metaOf(place: number | PlaceMeta): string {
  return typeof place === 'number' ? `{"parley/seq":${place}}` : JSON.stringify(place)
}

/** Undefined for an entry that ACP v1, or a client with this display, has no update for. */
export function entryMessage(
  sessionId: string,
  entry: Entry,
  {
    display,
    place = entry.seq,
  }: { readonly display: DisplayCapabilities; readonly place?: number | PlaceMeta | undefined },
): string | undefined {
  const text = bareText(entry)
  if (text !== undefined) return textMessage(sessionId, text, place)
  const update = updateOf(entry, display)
  return update === undefined ? undefined : updateMessage(sessionId, update, place)
}

interface BareText {
  readonly role: 'agent' | 'thought'
  readonly messageId: string
  readonly text: string
}

/** Of an entry that is a part of bare text, as most are. */
function bareText(entry: Entry): BareText | undefined {
  if (entry.kind !== 'message_chunk' || entry.role === 'user') return undefined
  const { role, messageId } = entry
  // As in `showing`, it may be anything.
  const content: Content | undefined = entry.content
  if (content?.type !== 'text' || content.annotations !== undefined || content.meta !== undefined) return undefined
  const { text }: { readonly text: unknown } = content
  return typeof text === 'string' && typeof messageId === 'string' ? { role, messageId, text } : undefined
}

/** What stands before and behind the text in the messages of one message's parts, which follow each other. */
interface TextFrame {
  readonly sessionId: string
  readonly messageId: string
  readonly role: BareText['role']
  readonly head: string
  readonly tail: string
}

let lastFrame: TextFrame | undefined

function frameOf(sessionId: string, { role, messageId }: BareText): TextFrame {
  const known = lastFrame
  if (known?.messageId === messageId && known.sessionId === sessionId && known.role === role) return known
  const session = JSON.stringify(sessionId)
  const head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${session},"update":{"sessionUpdate":"${CHUNK_OF[role]}","content":{"type":"text","text":`
  const tail = `},"messageId":${JSON.stringify(messageId)}},"_meta":`
  return (lastFrame = { sessionId, messageId, role, head, tail })
}

/** The same as `updateMessage` of its update, in a third of the time. */
function textMessage(sessionId: string, part: BareText, place: number | PlaceMeta): string {
  const { head, tail } = frameOf(sessionId, part)
  return `${head}${JSON.stringify(part.text)}${tail}${metaOf(place)}}}`
}

const batches = new WeakMap<DisplayCapabilities, WeakMap<readonly Entry[], SharedUpdates>>()

/**
 * The same array for all clients with this display: a batch is serialised and encoded once. `turn`: of the first entry, for
 * clients that want to know its place.
 */
export function sharedUpdates(
  sessionId: string,
  entries: readonly Entry[],
  { display, turn }: { readonly display: DisplayCapabilities; readonly turn: number },
): SharedUpdates {
  const known = batchesIn(display).get(entries)
  if (known !== undefined) return known
  const places = display.places ? placesOf(entries, turn) : []
  const byEntry = entries.map((entry, index) => entryMessage(sessionId, entry, { display, place: places[index] }))
  const messages = byEntry.filter((message) => message !== undefined)
  const shared = { messages, byEntry, places, isPersonal: entries.some(isPersonal) }
  batchesIn(display).set(entries, shared)
  return shared
}

function placesOf(entries: readonly Entry[], turn: number): readonly PlaceMeta[] {
  const placed = new PlacedEntries(turn)
  return entries.map((entry) => placed.next(entry))
}

function batchesIn(display: DisplayCapabilities): WeakMap<readonly Entry[], SharedUpdates> {
  const known = batches.get(display) ?? new WeakMap<readonly Entry[], SharedUpdates>()
  batches.set(display, known)
  return known
}

function isPersonal(entry: Entry): boolean {
  switch (entry.kind) {
    case 'message_chunk':
      return entry.role === 'user'
    case 'turn_ended':
    case 'prompt_withdrawn':
    case 'permission_resolved':
      return true
    case 'tool_call':
    case 'tool_call_patched':
      return hasTerminals(entry)
    default:
      return false
  }
}
