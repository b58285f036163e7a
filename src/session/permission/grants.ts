/** Answers that hold for later calls: for exactly this tool, and for exactly this command or host if it runs or fetches something. */
import type { PermissionOption } from '../../ports/content.ts'
import type { Grant, GrantSubject } from '../../ports/rules.ts'
import { type ToolCallSubject, hostOf, isPlainCommand, definitionOf } from './rule-matcher.ts'

/** The options that make a rule for all sessions of the project. */
export const ALWAYS_IN_PROJECT = 'allow_always_project'
export const NEVER_IN_PROJECT = 'reject_always_project'

const ONCE: PermissionOption = { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' }
const REJECT: PermissionOption = { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' }

/** The name of an option that is longer would not be read. */
const MAX_NAME_CHARS = 120

/** The tool, and the command or host, that an "always" or "never" would hold for. Stored with the permission request. */
export function grantSubjectOf(call: ToolCallSubject): GrantSubject {
  const { tool } = call
  const detail = detailOf(call)
  return { tool: tool.name, definition: definitionOf(tool), ...(detail && { [detail.key]: detail.value }) }
}

/** Whether the user has answered for good about exactly this call. */
export function hasGrant(grants: readonly Grant[], effect: Grant['effect'], call: ToolCallSubject): boolean {
  const wanted = { ...grantSubjectOf(call), effect }
  return grants.some((grant) => isSameGrant(grant, wanted))
}

export function isSameGrant(one: Grant, other: Grant): boolean {
  return (
    one.effect === other.effect &&
    one.tool === other.tool &&
    one.definition === other.definition &&
    one.command === other.command &&
    one.host === other.host
  )
}

/** The options of a permission request. "Always" is one of them only if the user sees everything that it would hold for. */
export function permissionOptionsFor(call: ToolCallSubject, canAlways: boolean): readonly PermissionOption[] {
  if (!canAlways || !canBeKept(call)) return [ONCE, REJECT]
  const name = nameOf(call)
  const places = canBeWritten(call) ? (['session', 'project'] as const) : (['session'] as const)
  const always = places.map((place): PermissionOption => {
    const optionId = place === 'session' ? 'allow_always' : ALWAYS_IN_PROJECT
    return { optionId, name: `Always allow ${name} in this ${place}`, kind: 'allow_always' }
  })
  const never = places.map((place): PermissionOption => {
    const optionId = place === 'session' ? 'reject_always' : NEVER_IN_PROJECT
    return { optionId, name: `Never allow ${name} in this ${place}`, kind: 'reject_always' }
  })
  return [ONCE, ...always, REJECT, ...never]
}

/** A tool that runs commands is never allowed as a whole when its arguments could not be read. */
function canBeKept(call: ToolCallSubject): boolean {
  const { tool, preview } = call
  const detail = detailOf(call)
  if (detail === undefined) return !tool.builtin || !['execute', 'fetch'].includes(preview.kind)
  const isSaid = detail.key === 'command' || hostOf(preview.url ?? '') !== undefined
  return isSaid && detail.value.length <= MAX_NAME_CHARS && !UNSEEN.test(detail.value)
}

const UNSEEN = /[\p{Cc}\p{Cf}]/u
const SECRET = /key|token|secret|passw|auth|credential|:\/\/[^/\s]*@|^\s*\w+=/iu

/** A rule in a file is a pattern and stays there: it must not hold a secret, nor match more than this command. */
function canBeWritten(call: ToolCallSubject): boolean {
  const { key, value } = detailOf(call) ?? { key: 'tool', value: '' }
  return key !== 'command' || (isPlainCommand(value) && !/[*?]/u.test(value) && !SECRET.test(value))
}

interface Detail {
  readonly key: 'command' | 'host'
  readonly value: string
}

/** For a URL without a plain host, the whole URL. */
function detailOf({ preview: { command, url } }: ToolCallSubject): Detail | undefined {
  if (command !== undefined) return { key: 'command', value: command.approvalPrefix }
  return url === undefined ? undefined : { key: 'host', value: hostOf(url) ?? url }
}

function nameOf(call: ToolCallSubject): string {
  const { title, server, builtin } = call.tool
  const detail = detailOf(call)
  if (detail?.key === 'command') return detail.value
  const tool = shortened(builtin ? title : `${title} (${server})`)
  return detail === undefined ? tool : `${tool} from ${detail.value}`
}

/** The title of a tool comes from its server and may have any characters. */
function shortened(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
  return line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS - 1)}…` : line
}
