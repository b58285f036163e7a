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

test('a configured option that the agent does not have is named, with those that it has', async () => {
  const settings = new AgentSettings(undefined, SAFE)
  settings.began({ modes }, SAFE)
  const asked: object[] = []
  const target = {
    sessionId: 's',
    quirks: SAFE,
    request: async (_method: string, params: object) => {
      asked.push(params)
      return {}
    },
  }
  const wishes = { mode: 'code', options: { modle: 'large' } }
  expect(await settings.push(target, wishes, true)).toEqual(['It has no option “modle”; it has: mode.'])
  expect(asked).toEqual([{ sessionId: 's', modeId: 'code' }])
  // Of a version before it, which had one.
  expect(await settings.push(target, wishes)).toEqual([])
})
