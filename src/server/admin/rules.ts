/** The permission rules of this machine, as `parley rules` lists, adds and removes them here or from elsewhere. */
import { realpathSync } from 'node:fs'
import {
  type RuleEffect,
  type RuleSubject,
  type StoredRule,
  removeRule,
  ruleId,
  storeRule,
  subjectInOrder,
} from '../../config/rules/permission-tables.ts'
import type { Config } from '../../config/settings.ts'
import { fail } from '../../errors/parley-error.ts'
import { type FoundRule, PermissionRules } from '../compose/permission-rules.ts'
import { openReader } from '../offline/offline-sessions.ts'

/** As `parley rules ls --json` prints it. */
export type RuleRow = FoundRule | SessionRuleRow

export type SessionRuleRow = Pick<FoundRule, 'effect' | 'subject' | 'standing'> & {
  readonly id: string
  readonly from: 'session'
  readonly sessionId: string
  /** As the journal has it. */
  readonly grant: object
}

export interface ListedRules {
  readonly rules: readonly RuleRow[]
  /** One sentence for each source that cannot be read completely. */
  readonly broken: readonly string[]
}

/** Those that hold in `cwd`, after those of the session whose id is `session` or begins so. */
export async function listRules(config: Config, cwd: string, session: string | undefined): Promise<ListedRules> {
  const { rules, broken } = await new PermissionRules(config).find(cwd)
  return { rules: [...(session === undefined ? [] : await rulesOfSession(config, session)), ...rules], broken }
}

/** The calls that are always or never allowed in the session whose id is `prefix` or begins with it. */
async function rulesOfSession(config: Config, prefix: string): Promise<readonly SessionRuleRow[]> {
  const reader = await openReader(config)
  try {
    const { sessionId } = await reader.find(prefix)
    const grants = await reader.grants(sessionId)
    return grants.map((grant) => {
      const { effect, ...subject } = grant
      const id = ruleId(['session', sessionId, effect, ...subjectInOrder(subject)])
      return { id, effect, subject, from: 'session', standing: 'active', sessionId, grant }
    })
  } finally {
    await reader.close()
  }
}

interface NewRule {
  readonly effect: RuleEffect
  readonly subject: RuleSubject
  /** Absent: in every directory. */
  readonly cwd?: string | undefined
}

/** Throws CONFIG_INVALID. */
export function addRule({ home }: Config, { effect, subject, cwd }: NewRule): StoredRule {
  return storeRule(home, { effect, subject, project: cwd === undefined ? null : realDirectory(cwd) })
}

function realDirectory(cwd: string): string {
  try {
    return realpathSync(cwd)
  } catch (error) {
    const reason = 'there is no such directory on the machine of the server'
    return fail('CONFIG_INVALID', { key: '--cwd', value: JSON.stringify(cwd), reason }, error)
  }
}

/** The id of the rule that was removed: the only one in force in `cwd` whose id begins with `prefix`. Throws RULE_UNKNOWN. */
export async function removeStoredRule(config: Config, prefix: string, cwd: string): Promise<string> {
  const { rules } = await new PermissionRules(config).find(cwd)
  const ids = rules.flatMap(({ id }) => id ?? [])
  const id = onlyOne(ids, prefix)
  removeRule(config.home, id)
  return id
}

/** Throws RULE_UNKNOWN. */
export function onlyOne(ids: readonly string[], prefix: string): string {
  const found = ids.filter((id) => prefix !== '' && id.startsWith(prefix))
  const [id] = found
  if (id !== undefined && found.length === 1) return id
  const known =
    ids.length === 0 ? 'no rule can be removed by its id here' : `one of these must be named: ${ids.join(', ')}`
  return fail('RULE_UNKNOWN', { prefix: JSON.stringify(prefix), known })
}
