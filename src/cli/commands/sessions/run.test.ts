import { expect, test } from 'vitest'
import { run } from './run.ts'

test.each([[[]], [['']], [[' \n']]])('run: the empty prompt %j is refused, and no server is started', async (args) => {
  const input = { name: 'run', args, options: {}, server: undefined, hasDashes: false }
  await expect(run(input)).rejects.toMatchObject({ code: 'CONFIG_INVALID', details: { key: 'PROMPT' } })
})
