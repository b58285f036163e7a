/** `parley rules add EFFECT`: a rule of the state directory, for one directory or for all. */
import { configFor } from '../../configured.ts'
import {
  EFFECTS,
  type RuleSubject,
  type StoredRule,
  SUBJECT_KEYS,
  isEffect,
} from '../../../config/rules/permission-tables.ts'
import { addRule } from '../../../server/admin/rules.ts'
import { ruleLine } from '../../../server/compose/permission-rules.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import { OK, USAGE } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { cwdOf } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

export async function run({ args: [effect = ''], options }: CommandInput): Promise<number> {
  if (!isEffect(effect)) {
    complain(`the effect of a rule is one of ${EFFECTS.join(', ')}`)
    return USAGE
  }
  const config = await configFor()
  const asked = { effect, subject: subjectIn(options), ...(options['global'] !== true && { cwd: cwdOf(options) }) }
  const rule =
    config.server === undefined
      ? addRule(config, asked)
      : await askRemote<StoredRule>(config, { method: '_parley/rules/add', params: asked })
  if (options['json'] === true) printJson(rule)
  else process.stdout.write(`${rule.id}  ${oneLine(ruleLine(rule), 200)}, for ${rule.project ?? 'every directory'}\n`)
  return OK
}

function subjectIn(options: CommandInput['options']): RuleSubject {
  const named = SUBJECT_KEYS.map((key) => [key, textOption(options, key)] as const)
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}
