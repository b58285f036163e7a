/** What differs between systems, by injected facts. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { ProgramFinder } from '../../config/own-programs.ts'
import { openerFor } from './browser.ts'
import { stopSignals } from './stop-signals.ts'

test('each system has its program that opens the browser, and none without a display', () => {
  expect(openerFor('win32', {})).toEqual({ name: 'rundll32', args: ['url.dll,FileProtocolHandler'] })
  expect(openerFor('darwin', {})?.name).toBe('open')
  expect(openerFor('linux', { DISPLAY: ':0' })?.name).toBe('xdg-open')
  expect(openerFor('linux', {})).toBeUndefined()
  for (const platform of ['win32', 'darwin', 'linux'] as const)
    expect(openerFor(platform, { SSH_CONNECTION: 'x', DISPLAY: ':0' })).toBeUndefined()
})

test('Windows is stopped by another signal than SIGTERM', () => {
  expect(stopSignals('linux')).toEqual(['SIGTERM', 'SIGINT', 'SIGHUP'])
  expect(stopSignals('win32')).toEqual(['SIGINT', 'SIGBREAK', 'SIGHUP'])
})

test('a program name on Windows has an extension', async () => {
  const bin = newDirectory({ git: '', 'git.exe': '' })
  for (const name of ['git', 'git.exe']) chmodSync(join(bin, name), 0o755)
  expect(await new ProgramFinder(bin, 'win32').find('git', [])).toBe(join(bin, 'git.exe'))
  expect(await new ProgramFinder(bin, 'linux').find('git', [])).toBe(join(bin, 'git'))
})
