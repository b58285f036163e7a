/** `parley doctor` reports which parts work, which do not, and how to fix them. It changes nothing and needs no server. */
import { diagnoseConfig } from '../../../config/diagnose.ts'
import { type Finding, findings } from '../../../server/doctor/doctor.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { paintOn } from '../../output/terminal-io.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { oneLine } from '../../output/terminal/text.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const diagnosis = await diagnoseConfig()
  const paint = paintOn(process.stdout, diagnosis.config)
  let problems = 0
  for await (const finding of findings(diagnosis)) {
    if (finding.state === 'problem') problems += 1
    if (options['json'] === true) printJson(finding)
    else process.stdout.write(textOf(finding, paint))
  }
  return problems === 0 ? OK : FAILED
}

const WIDTH = 17

function textOf({ what, state, says, remedy }: Finding, paint: Paint): string {
  const mark = { ok: paint('good', '✓'), note: paint('dim', '·'), problem: paint('bad', '✗') }[state]
  const line = `${mark} ${what.padEnd(WIDTH)}${oneLine(says)}\n`
  return remedy === undefined ? line : `${line}  ${' '.repeat(WIDTH)}${oneLine(remedy)}\n`
}
