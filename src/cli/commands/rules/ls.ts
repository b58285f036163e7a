/** `parley rules ls`: every rule that holds in a directory, and with `--session` what was always or never allowed in that one. */
import { configFor } from '../../configured.ts'
import { ruleId, subjectInOrder } from '../../../config/rules/permission-tables.ts'
import type { Config } from '../../../config/settings.ts'
import { openReader } from '../../../server/offline/offline-sessions.ts'
import { type FoundRule, PermissionRules, ruleLine } from '../../../server/compose/permission-rules.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { cwdOf } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { paintOn } from '../../output/terminal-io.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

/** As `--json` prints it. */
export type RuleRow =
  | FoundRule
  | (Pick<FoundRule, 'effect' | 'subject' | 'standing'> & {
      readonly id: string
      readonly from: 'session'
      readonly sessionId: string
      /** As the journal has it. */
      readonly grant: object
    })

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor()
  const { rules, broken } = await new PermissionRules(config).find(cwdOf(options))
  const prefix = textOption(options, 'session')
  const rows = [...(prefix === undefined ? [] : await rowsOfSession(config, prefix)), ...rules]
  if (options['json'] === true) rows.forEach(printJson)
  else rows.forEach((row) => print(row, paintOn(process.stdout, config)))
  for (const sentence of broken) complain(oneLine(sentence, 400))
  if (rows.length === 0 && broken.length === 0)
    process.stderr.write('No rules: every call that does more than read is asked about.\n')
  return broken.length === 0 ? OK : FAILED
}

/** The calls that are always or never allowed in the session whose id is `prefix` or begins with it. */
export async function rowsOfSession(
  config: Config,
  prefix: string,
): Promise<readonly (RuleRow & { readonly from: 'session' })[]> {
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

function print(row: RuleRow, paint: Paint): void {
  const waits = row.standing === 'waiting' ? `${paint('asking', 'not trusted yet')}  ` : ''
  const id = paint('code', (row.id ?? '').padEnd(10))
  process.stdout.write(`${id}  ${waits}${oneLine(ruleLine(row), 200)}\n`)
  process.stdout.write(`${' '.repeat(12)}${paint('dim', oneLine(placeOf(row), 200))}\n`)
  if (row.standing === 'waiting') process.stdout.write(`${' '.repeat(12)}Trust it with: parley rules trust\n`)
}

function placeOf(row: RuleRow): string {
  if (row.from === 'session') return `session ${row.sessionId}`
  if (row.from !== 'stored') return row.file ?? ''
  return row.project ?? 'everywhere'
}
