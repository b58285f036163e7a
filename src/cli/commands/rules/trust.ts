/** `parley rules trust`: the user agrees to exactly what the project's file allows now. */
import { allow } from '../../../config/mcp/edit-trust.ts'
import { configFor } from '../../configured.ts'
import { PermissionRules, TRUSTED_RULES, ruleLine, trustDigest } from '../../../server/compose/permission-rules.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { cwdOf } from '../../sessions/session-resolution.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const { home, environment } = await configFor()
  const { rules } = await new PermissionRules({ home, environment }).find(cwdOf(options))
  const theirs = rules.filter(({ from, effect }) => from === 'project' && effect === 'allow')
  const file = theirs[0]?.file
  if (file === undefined) {
    complain('no .parley.toml of this directory allows anything')
    return FAILED
  }
  allow(home, trustDigest(file, theirs), { file, name: TRUSTED_RULES })
  process.stdout.write(`Allowed by ${file}, until it says something else:\n`)
  for (const rule of theirs) process.stdout.write(`  ${oneLine(ruleLine(rule), 2_000)}\n`)
  return OK
}
