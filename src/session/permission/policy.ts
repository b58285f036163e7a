/**
 * Decides whether a tool call runs, needs permission or is refused, by whose decision and why; which rules and earlier
 * answers match it; and which files it may reach then. Pure.
 */
import {
  executorOf,
  type PathAccess,
  barOf,
  catchesPath,
  fitsPath,
  fitsWord,
  folded,
  isGoverning,
  isOwnPlace,
  isWithin,
  mayMatchInside,
  placesIn,
} from '../../path-rules/path-rules.ts'
import type { PermissionDecision } from '../../ports/values/content.ts'
import type { PermissionModeId, Settings } from '../../ports/values/settings.ts'
import type { PathAccessFilter } from '../../ports/values/path-access.ts'
import type { Grant, GrantSubject, Rule, RuleEffect, RuleSet, RuleSubject } from '../../ports/rules.ts'
import type { PreviewedCommand, Tool, ToolPreview } from '../../ports/tools.ts'
import { isSameGrant } from '../domain/permission-answer.ts'

/** A call as rules see it. */
export interface ToolCallSubject {
  readonly tool: Tool
  readonly preview: ToolPreview
}

export interface PolicyDecision extends PermissionDecision {
  /** "Always" is no option: each such call is asked about. */
  readonly eachTime?: true
}

/** The state of the session that decides about a call. */
export interface PolicyContext {
  readonly mode: PermissionModeId
  readonly rules: RuleSet
  readonly grants: readonly Grant[]
}

const MODES: ReadonlySet<string> = new Set<PermissionModeId>(['ask', 'accept-edits', 'plan', 'allow-all'])

/** An unknown mode of an agent counts as `ask`. */
export function modeOf({ modes }: Settings): PermissionModeId {
  const id = modes?.currentModeId ?? 'ask'
  return isMode(id) && modes?.areAgents !== true ? id : 'ask'
}

function isMode(id: string): id is PermissionModeId {
  return MODES.has(id)
}

/** The first match decides. Denials come first, then rules that always ask, then permissions. */
export function decidePolicy(call: ToolCallSubject, standing: PolicyContext): PolicyDecision {
  return (
    deniedBy(call, standing) ??
    refusedBefore(call, standing) ??
    refusedInPlan(call, standing) ??
    askedEachTime(call, standing) ??
    allowed(call, standing) ?? { decision: 'ask', by: 'tool', why: `no rule or answer allows it${effectWords(call)}` }
  )
}

/** The effect of a command, as far as its line shows it. */
function effectWords({ preview: { command } }: ToolCallSubject): string {
  if (command === undefined) return ''
  return command.effect === 'reads' ? '; it only reads' : '; it may change something'
}

/** The rules that hold also for a call that already has permission. */
export function deniedBy(call: ToolCallSubject, { rules }: Pick<PolicyContext, 'rules'>): PolicyDecision | undefined {
  const rule = findRule('deny', rules, call)
  return rule && { decision: 'deny', by: 'rule', why: ruleText(rule) }
}

function refusedBefore(call: ToolCallSubject, { grants }: PolicyContext): PolicyDecision | undefined {
  if (!hasGrant(grants, 'deny', call)) return undefined
  return { decision: 'deny', by: 'answer', why: 'the user has said never, for this session' }
}

function refusedInPlan(call: ToolCallSubject, { mode }: PolicyContext): PolicyDecision | undefined {
  if (mode !== 'plan' || !mayChange(call)) return undefined
  return { decision: 'deny', by: 'mode', why: 'plan mode: nothing is changed' }
}

function askedEachTime(call: ToolCallSubject, { rules }: PolicyContext): PolicyDecision | undefined {
  const ask = (why: string, by: PolicyDecision['by'] = 'tool'): PolicyDecision => ({
    decision: 'ask',
    by,
    why,
    eachTime: true,
  })
  const { command, destroys } = call.preview
  if (destroys || command?.effect === 'destroys')
    return ask(command?.why ?? 'it may destroy data that cannot be recovered')
  if (call.preview.gitReason !== undefined) return ask(`git runs or obeys it: ${call.preview.gitReason}`)
  const touched = protectedPath(call, rules)
  if (touched !== undefined) return ask(`it touches ${touched}`)
  if (rules.broken !== undefined) return ask(rules.broken, 'rule')
  const rule = findRule('ask', rules, call)
  return rule && ask(ruleText(rule), 'rule')
}

function allowed(call: ToolCallSubject, { mode, rules, grants }: PolicyContext): PolicyDecision | undefined {
  const allow = (by: PolicyDecision['by'], why: string): PolicyDecision => ({ decision: 'allow', by, why })
  const rule = findRule('allow', rules, call)
  if (rule !== undefined) return allow('rule', ruleText(rule))
  // The "always" was given for the tool, not for a file that runs by itself later.
  const executed = mode === 'allow-all' ? undefined : executedLater(call)
  if (executed !== undefined) return { decision: 'ask', by: 'tool', why: executed, eachTime: true }
  if (hasGrant(grants, 'allow', call)) return allow('answer', 'you, always in this session')
  if (mode === 'allow-all') return allow('mode', `mode allow all${effectWords(call)}`)
  if (mode === 'accept-edits' && isEditInside(call, rules)) return allow('mode', 'mode accept edits')
  return isHarmless(call) ? allow('tool', 'it only reads, and is of Parley itself') : undefined
}

const CHANGING: ReadonlySet<string> = new Set(['edit', 'delete', 'move', 'execute', 'switch_mode'])
const READING: ReadonlySet<string> = new Set(['read', 'search', 'think', 'other'])

/** The claims of an MCP server count against its tool, never for it: a tool that claims to only read is still asked about. */
function mayChange({ tool, preview }: ToolCallSubject): boolean {
  return !tool.readOnly || preview.destroys === true || CHANGING.has(preview.kind)
}

/** A call that reaches the network can send what the agent has read. */
function isHarmless({ tool, preview }: ToolCallSubject): boolean {
  const reachesOut = preview.url !== undefined || preview.command !== undefined
  return tool.builtin && tool.readOnly && READING.has(preview.kind) && !reachesOut
}

function isEditInside({ tool, preview: { kind, paths = [] } }: ToolCallSubject, { roots }: RuleSet): boolean {
  const isInside = (path: string) => roots.some((root) => isWithin(path, root))
  return tool.builtin && kind === 'edit' && paths.length > 0 && paths.every(isInside)
}

/** The program that executes an edited file later on its own, such as git with a hook. */
function executedLater({ preview: { kind, paths = [] } }: ToolCallSubject): string | undefined {
  const found = kind === 'edit' ? paths.map((path) => executorOf(path)).find((by) => by !== undefined) : undefined
  return found && `it is executed later by ${found}`
}

/** Files that decide what runs: a call that may write them has every permission. Parley's own files are not even read without permission. */
function protectedPath(call: ToolCallSubject, set: RuleSet): string | undefined {
  const { paths = [] } = call.preview
  const { command } = call.preview
  const ours = paths.find((path) => isOwnPlace(path, set)) ?? (command && ownPlaceNamed(command, set))
  if (ours !== undefined) return ours
  if (!mayChange(call) || command?.effect === 'reads') return undefined
  return [...paths, ...(command?.pathPatterns ?? [])].find(isGoverning)
}

/** Also when the line leaves open which file it names, or walks through a directory that holds Parley's own files. */
function ownPlaceNamed({ line, pathPatterns, isDeep }: PreviewedCommand, set: RuleSet): string | undefined {
  const plain = line.replaceAll(/["'\\]/gu, '')
  const isIn = (place: string) => plain.split(place).some((after, at) => at > 0 && !/^[\w-]/u.test(after))
  const isOurs = (named: string, place: string) => !isOfRoot(named, place, set) && mayMatchInside(named, place, isDeep)
  return set.own.find(
    (place) => (!isGiven(place, set) && isIn(place)) || pathPatterns.some((named) => isOurs(named, place)),
  )
}

function isOfRoot(path: string, place: string, { roots }: RuleSet): boolean {
  return roots.some((root) => isBelow(root, place) && isWithin(path, root))
}

function isGiven(place: string, { roots }: RuleSet): boolean {
  return roots.some((root) => isBelow(root, place))
}

function isBelow(path: string, directory: string): boolean {
  return path !== directory && isWithin(path, directory)
}

function ruleText(rule: Rule): string {
  return `rule “${ruleWords(rule)}” ${rule.origin}`
}

/**
 * The files that rules keep from an authorized call which comes upon them in a list, in a search or behind a link. A rule that
 * asks does not count if it matched the call itself: the user has allowed everything that the call names.
 */
export function pathAccessFilterFor(call: ToolCallSubject, set: RuleSet): PathAccessFilter {
  const isNamed = (call.preview.paths ?? []).some((path) => isOwnPlace(path, set))
  const unanswered = set.rules.filter(
    ({ effect, subject }) => effect === 'deny' || !matchesBroadly(subject, call, set.roots),
  )
  const access = accessOf([call.tool], { ...set, rules: unanswered, own: isNamed ? [] : set.own })
  const { tool, preview } = call
  const isAnswered = tool.readOnly || (preview.paths ?? []).some((path) => isExecuted(path))
  // An edit without permission must not reach a file that is executed later through a link that was replaced since.
  return (path) => barOf(path, access) ?? (!isAnswered && isExecuted(path) ? 'asked' : undefined)
}

function isExecuted(path: string): boolean {
  return isGoverning(path) || executorOf(path) !== undefined
}

/** The same for files that an agent reads by itself, such as instructions. */
export function pathAccessFilterForAgent(set: RuleSet): PathAccessFilter {
  const access = accessOf([], set)
  return (path) => barOf(path, access)
}

/**
 * The file restrictions of the rules for any of these tools. A rule that names a tool or server counts if it matches one
 * of them.
 */
export function accessOf(tools: readonly Tool[], { rules, roots, own }: RuleSet): PathAccess {
  const patterns = (wanted: RuleEffect) =>
    rules.flatMap(({ effect, subject }) => {
      const { path, command, host, tool, server, definition } = subject
      const isOfPlaces = path !== undefined && command === undefined && host === undefined
      const isOfAll = tool === undefined && server === undefined && definition === undefined
      const isMeant = isOfAll || tools.some((one) => isOfTool(subject, one))
      return effect === wanted && isOfPlaces && isMeant ? [path] : []
    })
  return { roots, own, denied: patterns('deny'), asked: patterns('ask') }
}

// Which rules and grants match a call. Rules that allow match narrowly, rules that ask or deny match broadly. A grant is an answer
// that holds for later calls of a session: for exactly this tool, and for exactly this command or host if the tool runs or fetches
// something.

function findRule(effect: RuleEffect, set: RuleSet, call: ToolCallSubject): Rule | undefined {
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
function matchesBroadly(subject: RuleSubject, call: ToolCallSubject, roots: readonly string[]): boolean {
  const { paths = [], command, url } = call.preview
  return (
    (isOfTool(subject, call.tool) || isAtServer(subject, call.preview)) &&
    (subject.path === undefined || catchesPath(subject.path, paths, roots)) &&
    (subject.command === undefined || (command !== undefined && catchesCommand(subject.command, command.line))) &&
    (subject.host === undefined || catchesHost(subject.host, url))
  )
}

function isOfTool({ tool: name, server, definition }: RuleSubject, tool: Tool): boolean {
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

export function isPlainCommand(line: string): boolean {
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
  const wanted = lineWords(pattern)
  const rest = wanted.at(-1) === '*' ? wanted.slice(0, -1) : wanted
  // `g"i"t` is `git` to the shell.
  return [line, line.replaceAll(/["'\\]/gu, '')].some((one) => hasWords(rest, lineWords(one)))
}

function hasWords(rest: readonly string[], words: readonly string[]): boolean {
  return words.some((_first, start) =>
    rest.every((one, index) => {
      const word = words[start + index]
      return word !== undefined && (fitsWord(one, word) || (index === 0 && fitsWord(one, programOf(word))))
    }),
  )
}

function lineWords(line: string): readonly string[] {
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
export function hostOf(url: string): string | undefined {
  const [, host] = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#]|$)/iu.exec(url) ?? []
  return url.includes('\\') ? undefined : host?.toLowerCase().replace(/\.$/u, '')
}

/** The tool, and the command or host, that an "always" or "never" would hold for. Stored with the permission request. */
export function grantSubjectOf(call: ToolCallSubject): GrantSubject {
  const { tool } = call
  const detail = detailOf(call)
  return { tool: tool.name, definition: definitionOf(tool), ...(detail && { [detail.key]: detail.value }) }
}

/** Whether the user has answered for good about exactly this call. */
function hasGrant(grants: readonly Grant[], effect: Grant['effect'], call: ToolCallSubject): boolean {
  const wanted = { ...grantSubjectOf(call), effect }
  return grants.some((grant) => isSameGrant(grant, wanted))
}

interface Detail {
  readonly key: 'command' | 'host'
  readonly value: string
}

/** For a URL without a plain host, the whole URL. */
export function detailOf({ preview: { command, url } }: ToolCallSubject): Detail | undefined {
  if (command !== undefined) return { key: 'command', value: command.approvalPrefix }
  return url === undefined ? undefined : { key: 'host', value: hostOf(url) ?? url }
}
