/** The entries and commands of a session in the words that its tests tell their stories with. */
import type { GrantSubject } from '../../src/ports/rules.ts'
import type { ToolInputRequest } from '../../src/ports/tools.ts'
import type { PermissionKind, PermissionOption, PermissionOutcome, ToolStatus } from '../../src/ports/values/content.ts'
import type { ConfigOption, Modes } from '../../src/ports/values/settings.ts'
import type { AgentSessionRecord, StopReason } from '../../src/ports/agent.ts'
import type { AgentEvent, Command } from '../../src/session/domain/commands.ts'
import type { Body, TurnEnd } from '../../src/session/domain/entries.ts'

export const text = (words: string) => ({ type: 'text', text: words }) as const
export const option = (kind: PermissionKind): PermissionOption => ({ optionId: kind, name: kind, kind })
export const options = [option('allow_once'), option('allow_always'), option('reject_once')]
export const yes: PermissionOutcome = { outcome: 'selected', optionId: 'allow_once', kind: 'allow_once' }
export const always: PermissionOutcome = { outcome: 'selected', optionId: 'allow_always', kind: 'allow_always' }
export const nobody: PermissionOutcome = { outcome: 'cancelled' }

// What has become true.
export const created: Body = {
  kind: 'session_created',
  format: 1,
  cwd: '/home/ada',
  additionalDirectories: [],
  agent: 'puppet',
}
/** A conversation of the session's agent, in that agent's own store. */
export const agentSessionRecord: AgentSessionRecord = {
  generation: 1,
  agent: 'puppet',
  version: '1.0.0',
  agentSessionId: 'a-1',
  how: 'new',
  caps: ['load'],
  cwd: '/home/ada',
  roots: ['/home/ada'],
  upTo: 1,
}
export const agentSession = (agentSessionId: string, changes: Partial<AgentSessionRecord> = {}): Body => ({
  kind: 'agent_session',
  ...agentSessionRecord,
  agentSessionId,
  ...changes,
})
export const closed: Body = { kind: 'session_closed' }
export const accepted = (promptId: string, words: string): Body => ({
  kind: 'prompt_accepted',
  promptId,
  content: [text(words)],
})
export const withdrawn = (promptId: string, reason: 'cancelled' | 'interrupted'): Body => ({
  kind: 'prompt_withdrawn',
  promptId,
  reason,
})
export const turnStarted = (number: number, promptId: string): Body => ({
  kind: 'turn_started',
  turnId: `t${number}`,
  promptId,
})
export const userSaid = (number: number, promptId: string, words: string): Body => ({
  kind: 'message_chunk',
  role: 'user',
  messageId: `t${number}-user`,
  promptId,
  content: text(words),
})
export const agentSaid = (messageId: string, words: string): Body => ({
  kind: 'message_chunk',
  role: 'agent',
  messageId,
  content: text(words),
})
export const agentThought = (messageId: string, words: string): Body => ({
  kind: 'message_chunk',
  role: 'thought',
  messageId,
  content: text(words),
})
export const toolCall = (toolCallId: string, title: string, status?: ToolStatus): Body => ({
  kind: 'tool_call',
  toolCallId,
  call: { title, ...(status === undefined ? {} : { status }) },
})
export const patched = (toolCallId: string, status: ToolStatus, words?: string): Body => ({
  kind: 'tool_call_patched',
  toolCallId,
  patch: { status, ...(words === undefined ? {} : { content: [{ type: 'content', content: text(words) }] }) },
})
export const searching: GrantSubject = { tool: 'docs__search', definition: 'd' }
export const asked = (requestId: string, toolCallId: string, grant?: GrantSubject): Body => ({
  kind: 'permission_requested',
  requestId,
  toolCallId,
  call: { title: 'Delete everything' },
  options,
  resume: { step: 1 },
  ...(grant && { grant }),
})
export const resolved = (requestId: string, outcome: PermissionOutcome): Body => ({
  kind: 'permission_resolved',
  requestId,
  outcome,
})
const pause: ToolInputRequest = {
  questions: { who: { mode: 'form', server: 's', message: 'Who?', schema: {} } },
  state: { requestState: 'opaque' },
}
export const paused = (toolCallId: string): Body => ({
  kind: 'tool_input_requested',
  toolCallId,
  input: pause,
  resume: { step: 1 },
})
export const continued = (toolCallId: string): Body => ({ kind: 'tool_input_resolved', toolCallId })
export const suspended = (number: number): Body => ({ kind: 'turn_suspended', turnId: `t${number}` })
export const resumed = (number: number): Body => ({ kind: 'turn_resumed', turnId: `t${number}` })
export const cancelRequested = (number: number): Body => ({ kind: 'turn_cancel_requested', turnId: `t${number}` })
export const ended = (number: number, promptId: string, stopReason: TurnEnd): Body => ({
  kind: 'turn_ended',
  turnId: `t${number}`,
  promptId,
  stopReason,
})
export const titled = (title: string): Body => ({ kind: 'title', title })

// What is asked for.
export const create: Command = { kind: 'create', cwd: '/home/ada', additionalDirectories: [], agent: 'puppet' }
export const configure = (...additionalDirectories: string[]): Command => ({ kind: 'configure', additionalDirectories })
export const prompt = (promptId: string, words: string): Command => ({
  kind: 'prompt',
  promptId,
  content: [text(words)],
})
export const modes: Modes = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code', description: 'Writes' },
  ],
}
const choices = [
  { value: 'small', name: 'Small' },
  { value: 'large', name: 'Large' },
]
export const modelOption: ConfigOption = {
  id: 'model',
  name: 'Model',
  category: 'model',
  type: 'select',
  currentValue: 'small',
  options: choices,
}
export const loudOption: ConfigOption = { id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }
/** The option that means the modes. */
export const modeOption: ConfigOption = {
  id: 'way',
  name: 'Way',
  category: 'mode',
  type: 'select',
  currentValue: 'ask',
  options: [{ group: 'g', name: 'G', options: modes.availableModes.map(({ id, name }) => ({ value: id, name })) }],
}
export const configOptions: readonly ConfigOption[] = [modeOption, modelOption, loudOption]
export const offer: Command = {
  kind: 'set_agent_capabilities',
  agent: 'puppet',
  commands: [{ name: 'call', description: 'Runs a tool' }],
  settings: { modes, configOptions },
}
export const cancel = (...queued: string[]): Command => ({ kind: 'cancel', queued })
export const withdraw = (promptId: string): Command => ({ kind: 'withdraw', promptId })
export const close: Command = { kind: 'close' }
export const rename = (title: string): Command => ({ kind: 'rename', title })
export const fork: Command = { kind: 'fork', session: 's-0' }
export const halt: Command = { kind: 'halt' }
export const answer = (requestId: string, optionId: string | null): Command => ({
  kind: 'answer',
  requestId,
  optionId,
})
export const says = (number: number, words: string): Command =>
  agent(number, { kind: 'chunk', role: 'agent', content: text(words) })
export const thinks = (number: number, words: string): Command =>
  agent(number, { kind: 'chunk', role: 'thought', content: text(words) })
export const reports = (number: number, toolCallId: string, status: ToolStatus): Command =>
  agent(number, { kind: 'call', toolCallId, patch: { status } })
export const names = (number: number, title: string): Command => agent(number, { kind: 'title', title })
export const pauses = (number: number, toolCallId: string): Command =>
  agent(number, { kind: 'tool_input_requested', toolCallId, input: pause, resume: { step: 1 } })
export const goesOn = (number: number, toolCallId: string): Command =>
  agent(number, { kind: 'tool_input_resolved', toolCallId })
export const does = agent
export const asks = (number: number, requestId: string, toolCallId: string): Command => ({
  kind: 'ask',
  turnId: `t${number}`,
  requestId,
  ask: { toolCallId, patch: { title: 'Delete everything' }, options, resume: { step: 1 } },
})
export const ends = (number: number, stopReason: StopReason = 'end_turn'): Command => ({
  kind: 'end',
  turnId: `t${number}`,
  stopReason,
})

function agent(number: number, event: AgentEvent): Command {
  return { kind: 'agent', turnId: `t${number}`, event }
}
