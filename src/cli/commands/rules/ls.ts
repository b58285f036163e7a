/** `parley rules ls`: every rule that applies in a directory, and with `--session` the answers “always” and “never” of that session. */
import { configFor } from '../../configured.ts'
import type { Config } from '../../../config/settings.ts'
import { type ListedRules, type RuleRow, listRules } from '../../../server/admin/rules.ts'
import { ruleLine } from '../../../server/compose/permission-rules.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { cwdOf } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { paintOn } from '../../output/terminal-io.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor()
  const { rules: rows, broken } = await rulesIn(config, cwdOf(options), textOption(options, 'session'))
  if (options['json'] === true) rows.forEach(printJson)
  else rows.forEach((row) => print(row, paintOn(process.stdout, config)))
  for (const sentence of broken) complain(oneLine(sentence, 400))
  if (rows.length === 0 && broken.length === 0)
    process.stderr.write('No rules: every call that does more than read is asked about.\n')
  return broken.length === 0 ? OK : FAILED
}

/** Those of the directory, after those of the session. */
export async function rulesIn(config: Config, cwd: string, session: string | undefined): Promise<ListedRules> {
  if (config.server === undefined) return listRules(config, cwd, session)
  return askRemote(config, { method: '_parley/rules/list', params: { cwd, sessionId: session } })
}

function print(row: RuleRow, paint: Paint): void {
  const waits = row.standing === 'waiting' ? `${paint('asking', 'not trusted yet')}  ` : ''
  const id = paint('code', (row.id ?? '').padEnd(10))
  process.stdout.write(`${id}  ${waits}${oneLine(ruleLine(row), 200)}\n`)
  process.stdout.write(`${' '.repeat(12)}${paint('dim', oneLine(sourceText(row), 200))}\n`)
  if (row.standing === 'waiting') process.stdout.write(`${' '.repeat(12)}Trust it with: parley rules trust\n`)
}

function sourceText(row: RuleRow): string {
  if (row.from === 'session') return `session ${row.sessionId}`
  if (row.from !== 'stored') return row.file ?? ''
  return row.project ?? 'everywhere'
}
