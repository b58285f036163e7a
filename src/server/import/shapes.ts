/** The shape of every kind of entry, as a file from anywhere must have it before it becomes one of ours. */
import { z } from 'zod'
import type { Body } from '../../session/domain/entries.ts'

/** Milliseconds since 1970 that are a date. */
export const time = z.int().min(0).max(8_640_000_000_000_000)

const name = z.string().min(1).max(4_096)
const directory = z
  .string()
  .min(1)
  .max(65_536)
  .startsWith('/')
  .refine((path) => !path.includes('\0'), 'holds a NUL')
const directories = z.array(directory)
const open = z.record(z.string(), z.unknown())

const meta = open.nullish()
const resource = z.union([
  z.looseObject({ uri: z.string(), text: z.string(), meta }),
  z.looseObject({ uri: z.string(), blob: z.string(), meta }),
])
const content = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string(), meta }),
  z.looseObject({ type: z.literal('image'), data: z.string(), mimeType: z.string(), meta }),
  z.looseObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string(), meta }),
  z.looseObject({ type: z.literal('resource_link'), uri: z.string(), name: z.string(), meta }),
  z.looseObject({ type: z.literal('resource'), resource, meta }),
])

const callContent = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('content'), content }),
  z.looseObject({ type: z.literal('diff'), path: z.string(), oldText: z.string().nullish(), newText: z.string() }),
  z.looseObject({ type: z.literal('terminal'), terminalId: z.string() }),
])
const patch = {
  title: z.string().optional(),
  name: z.string().optional(),
  kind: z.string().optional(),
  status: z.enum(['pending', 'in_progress', 'completed', 'failed', 'cancelled']).optional(),
  content: z.array(callContent).optional(),
  locations: z.array(z.looseObject({ path: z.string(), line: z.number().optional() })).optional(),
  permission: z
    .looseObject({
      decision: z.enum(['allow', 'ask', 'deny']),
      by: z.enum(['rule', 'mode', 'answer', 'tool']),
      why: z.string(),
    })
    .optional(),
  meta: open.optional(),
}
const callPatch = z.looseObject(patch)

const permissionOption = z.looseObject({ optionId: z.string(), name: z.string(), kind: z.string() })
const outcome = z.discriminatedUnion('outcome', [
  z.looseObject({ outcome: z.literal('selected'), optionId: z.string(), kind: z.string() }),
  z.looseObject({ outcome: z.literal('cancelled') }),
])

const grantSubject = { tool: name, definition: name, command: z.string().optional(), host: z.string().optional() }

const turnEnd = z.enum(['end_turn', 'max_tokens', 'max_steps', 'refusal', 'cancelled', 'interrupted', 'error'])
const failure = z.looseObject({ code: z.string(), message: z.string() })
const command = z.looseObject({ name: z.string(), description: z.string(), hint: z.string().optional() })
const planEntry = z.looseObject({
  content: z.string(),
  priority: z.enum(['high', 'medium', 'low']),
  status: z.enum(['pending', 'in_progress', 'completed']),
})
const mode = z.looseObject({ id: z.string(), name: z.string(), description: z.string().nullish() })
const modes = z.looseObject({ currentModeId: z.string(), availableModes: z.array(mode) })
const turn = { turnId: name }
const prompt = { promptId: name }
const attached = z.record(z.string(), z.unknown()).optional()

/** A new kind of entry has its shape here from the day it exists: the compiler asks for it. */
export const shapes = {
  session_created: z.looseObject({
    format: z.int().min(1),
    cwd: directory,
    additionalDirectories: directories,
    agent: name,
    imported: z.never().optional(),
  }),
  session_configured: z.looseObject({ additionalDirectories: directories, agent: name.optional() }),
  session_closed: z.looseObject({}),
  prompt_accepted: z.looseObject({
    ...prompt,
    content: z.array(content),
    additionalDirectories: directories.optional(),
    meta: attached,
    by: z.string().optional(),
  }),
  prompt_promoted: z.looseObject(prompt),
  prompt_withdrawn: z.looseObject({ ...prompt, reason: z.enum(['cancelled', 'interrupted']) }),
  turn_started: z.looseObject({ ...turn, ...prompt, by: z.literal('agent').optional() }),
  turn_suspended: z.looseObject(turn),
  turn_resumed: z.looseObject(turn),
  turn_cancel_requested: z.looseObject({ ...turn, by: z.string().optional() }),
  turn_ended: z.looseObject({
    ...turn,
    ...prompt,
    stopReason: turnEnd,
    error: failure.optional(),
    by: z.string().optional(),
  }),
  message_chunk: z.discriminatedUnion('role', [
    z.looseObject({ role: z.enum(['agent', 'thought']), messageId: name, content }),
    z.looseObject({ role: z.literal('user'), messageId: name, ...prompt, content, meta: attached }),
  ]),
  tool_call: z.looseObject({ toolCallId: name, call: z.looseObject({ ...patch, title: z.string() }) }),
  tool_call_patched: z.looseObject({ toolCallId: name, patch: callPatch }),
  plan: z.looseObject({ entries: z.array(planEntry) }),
  permission_requested: z.looseObject({
    requestId: name,
    toolCallId: name,
    call: callPatch,
    options: z.array(permissionOption),
    grant: z.looseObject(grantSubject).optional(),
  }),
  permission_resolved: z.looseObject({ requestId: name, outcome, by: z.string().optional() }),
  permission_revoked: z.looseObject({ grant: z.looseObject({ ...grantSubject, effect: z.enum(['allow', 'deny']) }) }),
  elicitation_requested: z.looseObject({
    elicitationId: name,
    mode: z.enum(['form', 'url']),
    toolCallId: name.optional(),
  }),
  elicitation_resolved: z.looseObject({ elicitationId: name, outcome: z.string() }),
  tool_input_requested: z.looseObject({ toolCallId: name, input: z.null() }),
  tool_input_resolved: z.looseObject({ toolCallId: name }),
  notice: z.looseObject({ text: z.string() }),
  title: z.looseObject({ title: z.string().max(1_000), by: z.literal('user').optional() }),
  forked_from: z.looseObject({ from: z.looseObject({ session: name, seq: z.int().min(1) }) }),
  commands: z.looseObject({ commands: z.array(command), by: z.literal('agent').optional() }),
  modes: z.looseObject({ modes: modes.nullable() }),
  mode: z.looseObject({ modeId: z.string() }),
  config_options: z.looseObject({ configOptions: z.array(z.looseObject({ id: z.string(), name: z.string() })) }),
  foreign: z.looseObject({ protocol: name, update: z.unknown() }),
  agent_session: z.looseObject({
    generation: z.int().min(1),
    agent: name,
    version: z.string(),
    agentSessionId: z.string(),
    how: z.string(),
    caps: z.array(z.string()),
    cwd: directory,
    roots: directories,
    upTo: z.int().min(0),
  }),
  usage: z.looseObject({ usage: z.looseObject({ used: z.number(), size: z.number() }) }),
  agent_checkpoint: z.looseObject({ data: z.unknown(), reset: z.literal(true).optional() }),
  compaction: z.looseObject({
    compactionId: name,
    patch: z.looseObject({ status: z.enum(['in_progress', 'completed', 'failed', 'cancelled']) }),
  }),
  compaction_summary: z.looseObject({ compactionId: name, content }),
} as const satisfies Readonly<Record<Body['kind'], z.ZodType>>
