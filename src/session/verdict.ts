/** What becomes of a call of a tool: it runs, somebody is asked, or it is refused; who says so, and why. Pure. */
import { isOwnPlace, isWithin } from '../access/path-access.ts'
import type { PermissionModeId, Settings } from '../ports/settings.ts'
import type { Rule, RuleSet } from '../ports/rules.ts'
import { allowanceOf, refusalOf } from './allowance.ts'
import { type Considered, ruleFor, ruleWords } from './rules.ts'

export interface Verdict {
  readonly decision: 'allow' | 'ask' | 'deny'
  /** `answer`: what somebody said in this session; `tool`: what the call would do, or that nothing is known of it. */
  readonly by: 'rule' | 'mode' | 'answer' | 'tool'
  readonly why: string
  /** A yes cannot be said once and for all. */
  readonly eachTime?: true
}

/** What is true of the session when a call is about to run. */
export interface Standing {
  readonly mode: PermissionModeId
  readonly rules: RuleSet
  /** What was always, or never, allowed in it. */
  readonly allowed: readonly string[]
}

const MODES: ReadonlySet<string> = new Set<PermissionModeId>(['ask', 'accept-edits', 'plan', 'allow-all'])

/** A mode of which we know nothing allows nothing. */
export function modeOf({ modes }: Settings): PermissionModeId {
  const id = modes?.currentModeId ?? 'ask'
  return isMode(id) ? id : 'ask'
}

function isMode(id: string): id is PermissionModeId {
  return MODES.has(id)
}

/** The first that has something to say: what denies, then what asks whatever is allowed, then what allows. */
export function verdictOn(call: Considered, standing: Standing): Verdict {
  return (
    deniedBy(call, standing) ??
    refusedBefore(call, standing) ??
    refusedInPlan(call, standing) ??
    askedEachTime(call, standing) ??
    allowed(call, standing) ?? { decision: 'ask', by: 'tool', why: 'nobody has allowed it' }
  )
}

/** What holds also for whoever has the answer already. */
export function deniedBy(call: Considered, { rules }: Pick<Standing, 'rules'>): Verdict | undefined {
  const rule = ruleFor('deny', rules, call)
  return rule && { decision: 'deny', by: 'rule', why: words(rule) }
}

function refusedBefore(call: Considered, { allowed }: Standing): Verdict | undefined {
  if (!allowed.includes(refusalOf(allowanceOf(call)))) return undefined
  return { decision: 'deny', by: 'answer', why: 'the user has said never, for this session' }
}

function refusedInPlan(call: Considered, { mode }: Standing): Verdict | undefined {
  if (mode !== 'plan' || !mayChange(call)) return undefined
  return { decision: 'deny', by: 'mode', why: 'plan mode: nothing is changed' }
}

function askedEachTime(call: Considered, { rules }: Standing): Verdict | undefined {
  const ask = (why: string, by: Verdict['by'] = 'tool'): Verdict => ({ decision: 'ask', by, why, eachTime: true })
  if (call.preview.destroys) return ask('it may destroy what cannot be had back')
  const touched = protectedPath(call, rules)
  if (touched !== undefined) return ask(`it touches ${touched}`)
  if (rules.broken !== undefined) return ask(rules.broken, 'rule')
  const rule = ruleFor('ask', rules, call)
  return rule && ask(words(rule), 'rule')
}

function allowed(call: Considered, { mode, rules, allowed }: Standing): Verdict | undefined {
  const allow = (by: Verdict['by'], why: string): Verdict => ({ decision: 'allow', by, why })
  const rule = ruleFor('allow', rules, call)
  if (rule !== undefined) return allow('rule', words(rule))
  if (allowed.includes(allowanceOf(call))) return allow('answer', 'you, always in this session')
  if (mode === 'allow-all') return allow('mode', 'mode allow all')
  if (mode === 'accept-edits' && isEditInside(call, rules)) return allow('mode', 'mode accept edits')
  return isHarmless(call) ? allow('tool', 'it only reads, and is of Parley itself') : undefined
}

const CHANGING: ReadonlySet<string> = new Set(['edit', 'delete', 'move', 'execute', 'switch_mode'])
const READING: ReadonlySet<string> = new Set(['read', 'search', 'think', 'other'])

/** What a stranger says of its tool counts against it, never for it: one that claims to read is asked about. */
function mayChange({ tool, preview }: Considered): boolean {
  return !tool.readOnly || preview.destroys === true || CHANGING.has(preview.kind)
}

/** Whoever reaches out can tell others what it has read. */
function isHarmless({ tool, preview }: Considered): boolean {
  const reachesOut = preview.url !== undefined || preview.command !== undefined
  return tool.trusted && tool.readOnly && READING.has(preview.kind) && !reachesOut
}

function isEditInside({ tool, preview: { kind, paths = [] } }: Considered, { roots }: RuleSet): boolean {
  const isInside = (path: string) => roots.some((root) => isWithin(path, root))
  return tool.trusted && kind === 'edit' && paths.length > 0 && paths.every(isInside)
}

/** Files that decide what runs: whoever may write them has every permission. Parley's own are not even read unasked. */
function protectedPath(call: Considered, set: RuleSet): string | undefined {
  const { paths = [] } = call.preview
  const ours = paths.find((path) => isOwnPlace(path, set))
  if (ours !== undefined) return ours
  return mayChange(call) ? paths.find((path) => /(?:^|\/)(?:\.git(?:\/|$)|\.parley\.toml$)/iu.test(path)) : undefined
}

function words(rule: Rule): string {
  return `rule “${ruleWords(rule)}” ${rule.origin}`
}
