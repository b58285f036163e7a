/** `parley run --agent-command`: whatever stands at the other end, there is an answer or one clear error. */
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { endServers, jsonLines, parley } from './cli.ts'
import { binary, freshDirectory, scriptAgent } from './parley.ts'

endServers()

const quoted = (path: string) => `'${path}'`
const node = quoted(process.execPath)
const acp = `${node} ${quoted(binary)} acp`
const sdkAgent = fileURLToPath(new URL('../fixtures/client/sdk-agent.mjs', import.meta.url))

const run = (command: string, home = freshDirectory(), ...more: readonly string[]) =>
  parley(['run', '--agent-command', command, 'hello', ...more], { home })

describe.concurrent('a Parley server at the other end', () => {
  test.concurrent('answers through its relay, whether it has to be started or runs', async () => {
    const home = freshDirectory()
    const command = `${acp} --agent ${await scriptAgent(home, [{ chunk: 'Hi there.' }])}`
    for (const _time of ['cold', 'warm']) {
      expect(await run(command, home)).toMatchObject({ code: 0, stdout: 'Hi there.\n', stderr: '' })
    }
  })

  test.concurrent('answers from one process', async () => {
    const home = freshDirectory()
    const command = `${acp} --embedded --agent ${await scriptAgent(home, [{ chunk: 'Hi there.' }])}`
    expect(await run(command, home)).toMatchObject({ code: 0, stdout: 'Hi there.\n' })
  })

  test.concurrent('goes on with a session that it has, and says nothing of what was said before', async () => {
    const home = freshDirectory()
    const command = `${acp} --agent ${await scriptAgent(home, [{ chunk: 'Hi there.' }])}`
    const lines = jsonLines((await run(command, home, '--json')).stdout)
    const session = String(lines[0]?.['sessionId'])
    expect(await run(command, home, '--session', session)).toMatchObject({ code: 0, stdout: 'Hi there.\n' })
  })
})

test.concurrent('an agent of the SDK answers', async () => {
  expect(await run(`${node} ${quoted(sdkAgent)}`)).toMatchObject({ code: 0, stdout: 'hello\n', stderr: '' })
})

describe.concurrent('one clear line, and no answer, from', () => {
  test.concurrent.each([
    ['an agent that ends at once', 'exit 3', 'ended (exit code 3, before it answered initialize)'],
    ['no command', ' ', 'The setting --agent-command cannot be " "'],
    ['a command that is not there', './nothing-here', 'exit code 127'],
    ['one that closes its side and lives on', 'exec >&-; cat > /dev/null', 'before it answered initialize'],
    ['one that only repeats what it hears', 'cat', 'refused initialize'],
    ['one that answers with no messages', 'read line; echo hello; echo [1]; exit 0', 'exit code 0'],
  ])('%s', async (_what, command, why) => {
    const { code, stdout, stderr } = await run(command)
    expect({ code: code !== 0, stdout }).toEqual({ code: true, stdout: '' })
    expect(stderr.split('\n').filter((line) => line.startsWith('parley: '))).toEqual([
      expect.stringContaining(why) as string,
    ])
  })
})
