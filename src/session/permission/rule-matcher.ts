/**
 * Which rules and grants match a call, and which answers can make new ones. Rules that allow match narrowly, rules that ask or
 * deny match broadly. A grant is an answer that holds for later calls of a session: for exactly this tool, and for exactly this
 * command or host if the tool runs or fetches something. Pure.
 */
import { catchesPath, folded, placesIn, fitsPath, fitsWord } from '../../path-rules/path-rules.ts'
import type { PermissionOption } from '../../ports/values/content.ts'
import type { Grant, GrantSubject, Rule, RuleEffect, RuleSet, RuleSubject } from '../../ports/rules.ts'
import type { PreviewedCommand, Tool, ToolPreview } from '../../ports/tools.ts'
import { ALWAYS_IN_PROJECT, NEVER_IN_PROJECT, isSameGrant } from '../domain/permission-answer.ts'

/** A call as rules see it. */
export interface ToolCallSubject {
  readonly tool: Tool
  readonly preview: ToolPreview
}

export function findRule(effect: RuleEffect, set: RuleSet, call: ToolCallSubject): Rule | undefined {
  const fits = effect === 'allow' ? isAllowed : matchesBroadly
  return set.rules.find((rule) => rule.effect === effect && fits(rule.subject, call, set.roots))
}

/** As users read it: `deny path .env*`. */
export function ruleWords({ effect, subject }: Pick<Rule, 'effect' | 'subject'>): string {
  return [effect, subjectWords(subject)].join(' ')
}

function subjectWords({ tool, server, path, command, host }: RuleSubject): string {
  const named = Object.entries({ tool, server, path, command, host })
  return named.flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${value}`])).join(' ')
}

function isAllowed(subject: RuleSubject, call: ToolCallSubject, roots: readonly string[]): boolean {
  const { paths = [], command, url } = call.preview
  return (
    isOfTool(subject, call.tool) &&
    (subject.path === undefined || allowsPaths(subject.path, paths, roots)) &&
    (subject.command === undefined || (command !== undefined && allowsCommand(subject.command, command))) &&
    (subject.host === undefined || allowsHost(subject.host, url))
  )
}

/** A rule that asks or denies matches as soon as it matches any part of the call. */
export function matchesBroadly(subject: RuleSubject, call: ToolCallSubject, roots: readonly string[]): boolean {
  const { paths = [], command, url } = call.preview
  return (
    (isOfTool(subject, call.tool) || isAtServer(subject, call.preview)) &&
    (subject.path === undefined || catchesPath(subject.path, paths, roots)) &&
    (subject.command === undefined || (command !== undefined && catchesCommand(subject.command, command.line))) &&
    (subject.host === undefined || catchesHost(subject.host, url))
  )
}

export function isOfTool({ tool: name, server, definition }: RuleSubject, tool: Tool): boolean {
  return (
    (name === undefined || fitsWord(name, server === undefined ? tool.name : tool.serverToolName)) &&
    (server === undefined || fitsWord(server, tool.server)) &&
    (definition === undefined || definition === definitionOf(tool))
  )
}

/** A rule on a whole server also holds for what is asked of it by a tool of ours. */
function isAtServer({ server, tool, definition }: RuleSubject, preview: ToolPreview): boolean {
  const named = preview.server
  return (
    named !== undefined &&
    server !== undefined &&
    tool === undefined &&
    definition === undefined &&
    fitsWord(server, named)
  )
}

/** Changes when the server describes the tool differently. A builtin tool keeps its definition in other versions of Parley. */
function definitionOf({ builtin, definitionHash }: Tool): string {
  return builtin ? 'parley' : definitionHash
}

function allowsPaths(pattern: string, paths: readonly string[], roots: readonly string[]): boolean {
  const fits = (path: string) => placesIn(roots, path).some((place) => fitsPath(pattern, place))
  return paths.length > 0 && paths.every(fits)
}

/** Characters that make several commands of one line, or another command than the one that is written. */
const SHELL = /[;&|<>`$()\\\n\r]/u

function isPlainCommand(line: string): boolean {
  return !SHELL.test(line)
}

/** A pattern such as `git diff *` says nothing of an option with which the program writes a file or runs another program. */
function allowsCommand(pattern: string, { line, approvalPrefix, extras }: PreviewedCommand): boolean {
  if (line === pattern) return true
  const named = new Set(pattern.split(/\s+/u).map((word) => word.replace(/[=*?].*$/su, '')))
  const isNamed = extras.every((extra) => named.has(extra))
  return isPlainCommand(line) && isNamed && (approvalPrefix === pattern || fitsWord(pattern, line))
}

/** The words in this order, wherever in the line: after `&&`, in quotes, with the directory of the program before it. */
function catchesCommand(pattern: string, line: string): boolean {
  const wanted = wordsOf(pattern)
  const rest = wanted.at(-1) === '*' ? wanted.slice(0, -1) : wanted
  // `g"i"t` is `git` to the shell.
  return [line, line.replaceAll(/["'\\]/gu, '')].some((one) => hasWords(rest, wordsOf(one)))
}

function hasWords(rest: readonly string[], words: readonly string[]): boolean {
  return words.some((_first, start) =>
    rest.every((one, index) => {
      const word = words[start + index]
      return word !== undefined && (fitsWord(one, word) || (index === 0 && fitsWord(one, programOf(word))))
    }),
  )
}

function wordsOf(line: string): readonly string[] {
  return folded(line)
    .split(/[\s;&|<>`$(){}\\"'=]+/u)
    .filter((word) => word !== '')
}

function programOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

function allowsHost(pattern: string, url: string | undefined): boolean {
  const host = url === undefined ? undefined : hostOf(url)
  return host !== undefined && fitsHost(pattern, host)
}

/** A URL without a recognizable host may have any. */
function catchesHost(pattern: string, url: string | undefined): boolean {
  if (url === undefined) return false
  const host = hostOf(url)
  return host === undefined || fitsHost(pattern, host)
}

function fitsHost(pattern: string, host: string): boolean {
  return fitsWord(pattern.toLowerCase(), host)
}

/** Nothing that two readers of addresses could read differently: no user, no backslash, plain letters. */
function hostOf(url: string): string | undefined {
  const [, host] = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#]|$)/iu.exec(url) ?? []
  return url.includes('\\') ? undefined : host?.toLowerCase().replace(/\.$/u, '')
}

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
