/** What an acknowledgement means, setting by setting. */
import { expect, test } from 'vitest'
import { type ServerSettings, fitnessOf } from './fitness.ts'

const alone: ServerSettings = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  synchronous_standby_names: '',
  server_encoding: 'UTF8',
  server_version_num: '150018',
  data_checksums: 'on',
}
const standby = { synchronous_standby_names: 'FIRST 1 (pg2)' }

test.each<[Partial<ServerSettings>, string, string[]]>([
  [{}, 'disk', ['no synchronous standby']],
  [standby, 'replicated', []],
  [{ ...standby, synchronous_commit: 'remote_apply' }, 'replicated', []],
  [{ ...standby, synchronous_commit: 'remote_write' }, 'replicated', ['remote_write']],
  [{ ...standby, synchronous_commit: 'local' }, 'disk', ['no synchronous standby']],
  [{ ...standby, data_checksums: 'off' }, 'replicated', ['data_checksums']],
])('%j is %s, with a warning of %j', (settings, durability, warnings) => {
  const fitness = fitnessOf({ ...alone, ...settings })
  expect(fitness).toMatchObject({ durability, unsafe: [], unfit: [] })
  expect(fitness.warnings).toEqual(warnings.map((one) => expect.stringContaining(one) as string))
})

test.each(['fsync', 'full_page_writes', 'synchronous_commit'] as const)('%s off is unsafe', (name) => {
  expect(fitnessOf({ ...alone, ...standby, [name]: 'off' })).toMatchObject({
    durability: 'memory',
    unsafe: [expect.stringContaining(name)],
  })
})

test.each([{ server_encoding: 'LATIN1' }, { server_version_num: '120005' }])('%j is unfit', (settings) => {
  expect(fitnessOf({ ...alone, ...settings }).unfit).toHaveLength(1)
})
