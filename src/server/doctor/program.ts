/** The checks of Node and of the settings. */
import { existsSync } from 'node:fs'
import type { Diagnosis } from '../../config/diagnose.ts'
import { serverInfo } from '../server-info.ts'
import { type Finding, note, ok, problem } from './finding.ts'

/** As `engines` in package.json has it. */
const OLDEST: readonly [number, number] = [20, 19]

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST
  const isFit = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
  const says = `Parley ${serverInfo.version} on Node ${version}`
  return isFit ? ok('program', says) : problem('program', says, `Install Node ${OLDEST.join('.')} or newer.`)
}

export function* checkSettings({ files, faults, mcp }: Diagnosis): Generator<Finding> {
  const there = files.filter((file) => existsSync(file))
  for (const fault of faults) yield problem('settings', fault, 'Correct it; docs/configuration.md has every setting.')
  if (faults.length === 0) yield ok('settings', there.length === 0 ? 'all as preset' : `from ${there.join(' and ')}`)
  for (const { name, standing } of mcp) yield note('MCP server', `${name}: ${STANDING[standing] ?? standing}`)
}

const STANDING: Readonly<Record<string, string>> = {
  active: 'configured; parley mcp test tells whether it answers',
  waiting: 'of the project, waits until you allow it: parley mcp ls',
  disabled: 'configured, and not enabled',
  overruled: 'overruled by the one of the project',
}
