import { expect, test } from 'vitest'
import { SAFE } from '../quirks.ts'
import { AgentSettings } from './settings.ts'

const modes = { currentModeId: 'ask', availableModes: ['ask', 'code'].map((id) => ({ id, name: id })) }

test('what an agent offers is the same object until something in it changes', () => {
  const settings = new AgentSettings(undefined, SAFE)
  settings.began({ modes }, SAFE)
  const first = settings.capabilities
  expect(settings.capabilities).toBe(first)
  settings.running()
  const current = settings.capabilities
  expect(current).toEqual({ ...first, isCurrent: true })
  expect(settings.capabilities).toBe(current)
  settings.heard({ kind: 'mode', modeId: 'code' })
  expect(settings.capabilities.settings.modes?.currentModeId).toBe('code')
  settings.heard({ kind: 'commands', commands: [], raw: [{ name: 'review', description: 'Reviews' }] })
  expect(settings.capabilities.commands).toEqual([{ name: 'review', description: 'Reviews' }])
  settings.closed()
  expect(settings.capabilities.isCurrent).toBeUndefined()
})
