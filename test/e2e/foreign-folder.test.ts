/** A folder from elsewhere, such as a cloned repository: what its files say neither runs a command nor keeps a user from working. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Cli, endServers, parley, workIn } from './cli.ts'
import { serveHere } from './hosted-server.ts'
import { freshDirectory, initialize, newSession, promptOf, scriptAgent, startParley } from './parley.ts'

endServers()

const TOUCH = { toolCall: { name: 'run_command', arguments: { command: 'touch ran-unasked' } } }

/** A state directory, and beside it a folder whose script runs a command. */
async function foreignFolder(settings: string) {
  const home = freshDirectory()
  const work = workIn(home)
  await scriptAgent(work, [TOUCH, { chunk: 'Said by the script.' }])
  writeFileSync(join(work, '.parley.toml'), settings)
  return { home, work, ran: () => existsSync(join(work, 'ran-unasked')) }
}

describe.concurrent('a project that names a script as its agent', () => {
  const settings = '# Settings\nagent = "script:script.jsonl"\n'

  test.concurrent.each([
    ['run', ['run', 'hi'], ''],
    ['run --embedded', ['run', '--embedded', 'hi'], ''],
    ['a prompt on standard input', [], 'hi\n'],
  ])('%s: the script is not played, and the command says why', async (_name, args, input) => {
    const { home, ran } = await foreignFolder(settings)
    const { code, stdout, stderr } = await parley(args, { home }, input)
    expect({ code, ran: ran() }).toEqual({ code: 0, ran: false })
    expect(stdout).not.toContain('Said by the script')
    expect(stderr).toMatch(/\.parley\.toml:2: .*agent.*only your own/u)
  })

  test.concurrent('an editor that starts `parley acp` there', async () => {
    const { home, work, ran } = await foreignFolder(settings)
    const client = startParley({ home, agent: 'auto', startIn: work })
    await initialize(client)
    const { result } = await client.request('session/prompt', promptOf(await newSession(client, work), 'hi'))
    expect([result, ran()]).toMatchObject([{ stopReason: 'end_turn' }, false])
    await client.leave()
  })

  test.concurrent('a server that is started there by hand serves other directories with the agent of the user', async () => {
    const { home, work, ran } = await foreignFolder(settings)
    const serving = new Cli(['serve'], { home, cwd: work })
    await serving.until('listens on')
    const other = join(home, 'other')
    mkdirSync(other)
    const { stdout } = await parley(['run', 'hi'], { home, cwd: other })
    expect(stdout).not.toContain('Said by the script')
    await parley(['stop'], { home })
    await serving.finished
    expect(ran()).toBe(false)
  })
})

describe.concurrent('a script that the user’s own file names', () => {
  test.concurrent('is played, and its calls are asked about', async () => {
    const { home, work, ran } = await foreignFolder('')
    mkdirSync(join(home, 'config', 'parley'), { recursive: true })
    writeFileSync(join(home, 'config', 'parley', 'parley.toml'), `agent = "script:${join(work, 'script.jsonl')}"\n`)
    await serveHere({ home })
    const { stdout } = await parley(['run', 'hi'], { home })
    expect([stdout.includes('Said by the script'), ran()]).toEqual([true, false])
  })

  test.concurrent('runs without a question what it says where a flag names it', async () => {
    const { home, ran } = await foreignFolder('')
    await serveHere({ home })
    await parley(['run', '--agent', 'script:script.jsonl', 'hi'], { home })
    expect(ran()).toBe(true)
  })
})

describe.concurrent('an exported session in the folder, imported', () => {
  test.concurrent('does not bring the permission of the user who exported it along', async () => {
    const { home, work, ran } = await foreignFolder('')
    await serveHere({ home })
    await parley(['run', '--agent', 'script:script.jsonl', 'hi'], { home })
    const [id = ''] = (await parley(['ls', '--json'], { home })).stdout.match(/[0-9a-f-]{36}/u) ?? []
    await parley(['export', id, '--format', 'jsonl', '-o', join(work, 'session.jsonl')], { home })
    rmSync(join(work, 'ran-unasked'))
    const elsewhere = freshDirectory()
    await serveHere({ home: elsewhere })
    const imported = (await parley(['import', 'session.jsonl'], { home: elsewhere, cwd: work })).stdout.trim()
    const { stdout } = await parley(['run', '--session', imported, 'again'], { home: elsewhere, cwd: work })
    expect([stdout.includes('Said by the script'), ran()]).toEqual([true, false])
  })
})
