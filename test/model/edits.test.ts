/** The mode accept-edits on the real binary: edits run unasked, but not of what git or another program executes later. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Fields } from '../e2e/message.ts'
import { clientHere } from '../e2e/hosted-server.ts'
import { freshDirectory, newSession, promptOf } from '../e2e/parley.ts'
import type { Saying } from '../model-server/script.ts'
import { startModelServer } from '../model-server/server.ts'

interface Outcome {
  readonly asked: readonly string[]
  readonly written: readonly string[]
}

/** A model writes these files, and the person declines whatever is asked. */
async function writing(
  paths: readonly string[],
  prepare: (cwd: string) => void,
  mode = 'accept-edits',
): Promise<Outcome> {
  const calls: readonly Saying[] = paths.map((path) => ({ call: 'write_file', args: { path, content: 'true\n' } }))
  const server = await startModelServer([calls, [{ text: 'Done.' }]])
  const home = freshDirectory()
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  prepare(cwd)
  const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${server.url}/v1`, PARLEY_MODEL_TITLES: 'false' }
  const client = await clientHere({ home, agent: 'model:openai:scripted', env })
  onTestFinished(async () => {
    await client.kill()
    await server.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  const asked: string[] = []
  client.listen(({ id, method, params }) => {
    if (method !== 'session/request_permission') return
    asked.push(String((params?.['toolCall'] as Fields | undefined)?.['title']).replace('Write ', ''))
    client.reply(id, { outcome: { outcome: 'selected', optionId: 'reject_once' } })
  })
  const sessionId = await newSession(client, cwd)
  await client.request('session/set_mode', { sessionId, modeId: mode })
  expect(await client.request('session/prompt', promptOf(sessionId, 'go'))).toMatchObject({
    result: { stopReason: 'end_turn' },
  })
  return { asked, written: paths.filter((path) => existsSync(join(cwd, path))) }
}

const git = (cwd: string, ...args: readonly string[]) => execFileSync('git', ['-C', cwd, ...args], { stdio: 'pipe' })

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

test(
  'files of git are asked about wherever git keeps them and whatever they are called',
  { timeout: 60_000 },
  async () => {
    const asks = [
      'elsewhere/hooks/pre-commit',
      'elsewhere/config.worktree',
      'bare/hooks/post-receive',
      'team/hooks/pre-commit',
      'tools/clean.sh',
      'nested/monitor.sh',
      'half/refs/heads/main',
      '.husky/pre-commit',
    ]
    const free = ['src/a.ts', 'tools/build.sh', 'nested/a.ts', 'half/config', 'hooks/use-state.ts']
    const { asked, written } = await writing([...asks, ...free], (cwd) => {
      git(cwd, 'init', '-q', '--separate-git-dir', join(cwd, 'elsewhere'))
      git(cwd, 'config', 'core.hooksPath', 'team/hooks')
      git(cwd, 'config', 'filter.x.clean', './tools/clean.sh %f')
      git(cwd, 'init', '-q', '--bare', join(cwd, 'bare'))
      git(cwd, 'init', '-q', join(cwd, 'nested'))
      git(join(cwd, 'nested'), 'config', 'core.fsmonitor', './monitor.sh')
      write(join(cwd, 'half/HEAD'), 'ref: refs/heads/main\n')
      mkdirSync(join(cwd, 'half/objects'))
    })
    expect(asked).toEqual(asks)
    expect(written).toEqual(free)
  },
)

test('where all is allowed, only what decides over git and the rules is asked about', { timeout: 60_000 }, async () => {
  const outcome = await writing(
    ['.bashrc', 'bare/hooks/x', '.parley.toml'],
    (cwd) => git(cwd, 'init', '-q', '--bare', 'bare'),
    'allow-all',
  )
  expect(outcome).toEqual({ asked: ['bare/hooks/x', '.parley.toml'], written: ['.bashrc'] })
})
