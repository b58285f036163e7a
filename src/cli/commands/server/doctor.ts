/** `parley doctor` reports which parts work, which do not, and how to fix them. It changes nothing and needs no server. */
import { writeFileSync } from 'node:fs'
import { diagnoseConfig } from '../../../config/diagnose.ts'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import { bugReport } from '../../../server/doctor/bundle.ts'
import { type Finding, findings } from '../../../server/doctor/doctor.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'
import { printJson } from '../../output/json.ts'
import { paintOn } from '../../output/terminal-io.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { oneLine } from '../../output/terminal/text.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const diagnosis = await diagnoseConfig()
  const paint = paintOn(process.stdout, diagnosis.config)
  const bundle = textOption(options, 'bundle')
  const found: Finding[] = []
  for await (const finding of findings(diagnosis)) {
    found.push(finding)
    if (bundle !== undefined) continue
    if (options['json'] === true) printJson(finding)
    else process.stdout.write(findingText(finding, paint))
  }
  if (bundle !== undefined) return writeBundle(bundle, diagnosis, found)
  return found.some(({ state }) => state === 'problem') ? FAILED : OK
}

/** An existing file is never replaced: it could be anything. */
function writeBundle(file: string, diagnosis: Parameters<typeof bugReport>[0], found: readonly Finding[]): number {
  try {
    writeFileSync(file, bugReport(diagnosis, found), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    return fail('BUNDLE_UNWRITTEN', { path: file, reason: reasonOf(error) }, error)
  }
  process.stderr.write(`${file} has what a bug report needs. Read it before you send it.\n`)
  return OK
}

const WIDTH = 17

function findingText({ what, state, says, remedy }: Finding, paint: Paint): string {
  const mark = { ok: paint('good', '✓'), note: paint('dim', '·'), problem: paint('bad', '✗') }[state]
  const line = `${mark} ${what.padEnd(WIDTH)}${oneLine(says)}\n`
  return remedy === undefined ? line : `${line}  ${' '.repeat(WIDTH)}${oneLine(remedy)}\n`
}
