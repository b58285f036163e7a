import { expect, test } from 'vitest'
import { Stage, answering } from '../../../test/fixtures/client/stage.ts'
import { findSession } from './session-resolution.ts'

test('an empty id names no session, also where there is only one', async () => {
  const stage = new Stage(answering({ 'session/list': { sessions: [{ sessionId: 's-1', cwd: '/work' }] } }))
  const client = await stage.connect()
  expect(await findSession(client, 's')).toMatchObject({ sessionId: 's-1' })
  await expect(findSession(client, '')).rejects.toMatchObject({ code: 'CONFIG_INVALID', details: { key: 'ID' } })
})
