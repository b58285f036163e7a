/** Promise 7: whatever a session started ends with the server, also when that is killed and its servers hold on to life. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { STUBBORN } from '../fixtures/process/owner.ts'
import { runs, until } from '../fixtures/process/running.ts'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { newSession, promptOf } from './parley.ts'
import { cleanUp, connect, stageWith } from './stage.ts'

cleanUp()

test('kill -9 of the owner leaves none of three MCP servers, nor the grandchild of the one that ignores everything', async () => {
  const stage = await stageWith([{ toolCall: { name: 'plain__echo', arguments: { text: 'up' } } }])
  const owner = await connect(stage)
  const pids = join(stage.cwd, 'pids')
  const note = 'echo $$ >> pids; '
  const servers = [
    { name: 'plain', ...noting(stdioServer('plain')) },
    { name: 'deaf', ...noting(stdioServer('deaf', { stubborn: true })) },
    {
      name: 'stubborn',
      command: '/bin/sh',
      args: ['-c', `${note}${STUBBORN.replace('echo $!', 'echo $! >> pids')}`],
      env: [],
    },
  ]
  const sessionId = await newSession(owner, stage.cwd, servers)
  await until(() => pidsIn(pids).length === 4)
  owner.ask('session/prompt', promptOf(sessionId, 'go'))
  const all = pidsIn(pids)
  expect(all.filter(runs)).toEqual(all)
  await owner.kill()
  await until(() => !all.some(runs))
})

/** The same server, which first writes down its pid. */
function noting({ command, args }: ReturnType<typeof stdioServer>) {
  return { command: '/bin/sh', args: ['-c', 'echo $$ >> pids; exec "$@"', 'sh', command, ...args], env: [] }
}

function pidsIn(path: string): readonly number[] {
  try {
    return readFileSync(path, 'utf8').trim().split('\n').map(Number)
  } catch {
    // No server has started yet.
    return []
  }
}
