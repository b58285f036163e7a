/** `parley rules add EFFECT`: a rule of the state directory, for one directory or for all. */
import { realpathSync } from 'node:fs'
import { configFor } from '../../configured.ts'
import {
  storeRule,
  EFFECTS,
  type RuleSubject,
  SUBJECT_KEYS,
  isEffect,
} from '../../../config/rules/permission-tables.ts'
import { ruleLine } from '../../../server/compose/permission-rules.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK, USAGE } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { cwdOf } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

export async function run({ args: [effect = ''], options }: CommandInput): Promise<number> {
  if (!isEffect(effect)) {
    complain(`a rule is one of ${EFFECTS.join(', ')}`)
    return USAGE
  }
  const { home } = await configFor()
  const project = options['global'] === true ? null : realpathSync(cwdOf(options))
  const rule = storeRule(home, { effect, subject: subjectIn(options), project })
  if (options['json'] === true) printJson(rule)
  else process.stdout.write(`${rule.id}  ${oneLine(ruleLine(rule), 200)}, for ${project ?? 'every directory'}\n`)
  return OK
}

function subjectIn(options: CommandInput['options']): RuleSubject {
  const named = SUBJECT_KEYS.map((key) => [key, textOption(options, key)] as const)
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}
