import { expect, test } from 'vitest'
import { isOlder, versionIn } from './takeover.ts'

test.each([
  ['0.1.0', '0.1.1', true],
  ['0.9.0', '0.10.0', true],
  ['1.0.0', '0.9.9', false],
  ['0.1.0', '0.1.0', false],
  ['0.1.0-next.1', '0.1.0', false],
  ['unknown', '0.1.0', false],
])('%s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older)
})

test('only a server that can be asked to stop has a version to compare', () => {
  const agentInfo = { name: 'parley', version: '0.1.0' }
  const offering = (methods: readonly string[]) => ({
    agentInfo,
    agentCapabilities: { _meta: { parley: { methods } } },
  })
  expect(versionIn(offering(['_parley/stop']))).toBe('0.1.0')
  expect(versionIn(offering([]))).toBeUndefined()
  expect(versionIn({ agentInfo })).toBeUndefined()
})
