/** `parley rules add` and `rm`: rules of the state directory, and what was always allowed in a session. */
import { realpathSync } from 'node:fs'
import { configFor } from '../../configured.ts'
import { RuleReader } from '../../../config/rules/rule-files.ts'
import { removeRule as removeStored, storeRule } from '../../../config/rules/rule-store.ts'
import { EFFECTS, type RuleSubject, SUBJECT_KEYS, isEffect } from '../../../config/rules/rules.ts'
import type { Config } from '../../../config/schema.ts'
import { ruleLine } from '../../../server/compose/rules.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK, USAGE } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { cwdOf } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { nobody, workWith } from '../../connect/with-client.ts'
import { rowsOfSession } from './ls.ts'
import { complain } from '../../say.ts'

export async function addRule([effect = '']: readonly string[], options: CommandInput['options']): Promise<number> {
  if (!isEffect(effect)) return refuse(`a rule is one of ${EFFECTS.join(', ')}`, USAGE)
  const { home } = await configFor()
  const project = options['everywhere'] === true ? null : realpathSync(cwdOf(options))
  const rule = storeRule(home, { effect, subject: subjectIn(options), project })
  if (options['json'] === true) printJson(rule)
  else process.stdout.write(`${rule.id}  ${oneLine(ruleLine(rule), 200)}, for ${project ?? 'every directory'}\n`)
  return OK
}

function subjectIn(options: CommandInput['options']): RuleSubject {
  const named = SUBJECT_KEYS.map((key) => [key, textOption(options, key)] as const)
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}

export async function removeRule([prefix = '']: readonly string[], options: CommandInput['options']): Promise<number> {
  const config = await configFor()
  const session = textOption(options, 'session')
  return session === undefined ? removeHere(config, prefix, cwdOf(options)) : revoke(config, prefix, session)
}

async function removeHere(config: Config, prefix: string, cwd: string): Promise<number> {
  const { rules } = await new RuleReader(config).read(cwd)
  const ids = rules.flatMap(({ id }) => id ?? [])
  const id = onlyOne(ids, prefix)
  if (id === undefined) return refuse(missing(prefix, ids), FAILED)
  removeStored(config.home, id)
  process.stdout.write(`${id} is gone; the next call is decided without it\n`)
  return OK
}

async function revoke(config: Config, prefix: string, session: string): Promise<number> {
  const rows = await rowsOfSession(config, session)
  const ids = rows.map(({ id }) => id)
  const row = rows.find(({ id }) => id === onlyOne(ids, prefix))
  if (row === undefined) return refuse(missing(prefix, ids), FAILED)
  return workWith({ config, embedded: false }, nobody, async ({ client }) => {
    await client.revoke(row.sessionId, row.grant)
    process.stdout.write(`${row.id} is gone; the next call is asked about\n`)
    return OK
  })
}

function onlyOne(ids: readonly string[], prefix: string): string | undefined {
  const found = ids.filter((id) => prefix !== '' && id.startsWith(prefix))
  return found.length === 1 ? found[0] : undefined
}

function missing(prefix: string, ids: readonly string[]): string {
  const known =
    ids.length === 0 ? 'no rule here can be removed by its id' : `one of these must be named: ${ids.join(', ')}`
  return `no single rule has an id that begins with ${JSON.stringify(prefix)}; ${known}. A rule of a file is removed in that file.`
}

function refuse(reason: string, code: number): number {
  complain(reason)
  return code
}
