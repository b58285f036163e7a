/** Text of agents, tools, files and servers that would steer a terminal or turn its letters round, in every command that prints it. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { jsonLines, parley, workIn } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

const HOSTILE = 'evil\u001b[31m\u001b]0;owned\u0007\u009b31m\u0085\u202egpj\u2066x\u2069\u061c\u200fend'
/* oxlint-disable-next-line no-control-regex -- control characters are what this file is about */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]/u

const home = freshDirectory()
let agent = ''
let id = ''

beforeAll(async () => {
  agent = await scriptAgent(home, [
    { thought: HOSTILE },
    { chunk: HOSTILE },
    {
      toolCall: {
        title: HOSTILE,
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: HOSTILE } }],
      },
    },
    { plan: [HOSTILE] },
  ])
  await parley(['run', '--embedded', HOSTILE], { home, agent })
  const [session] = jsonLines((await parley(['ls', '--json'], { home })).stdout)
  id = String(session?.['sessionId'])
  const line = { level: 50, time: 0, pid: 1, msg: HOSTILE, err: { message: HOSTILE }, [HOSTILE]: HOSTILE }
  appendFileSync(join(home, 'parley.log'), `${JSON.stringify(line)}\n${HOSTILE}\n`)
  mkdirSync(join(home, 'config', 'parley'), { recursive: true })
  const table = `[mcp.${JSON.stringify(HOSTILE)}]\ncommand = ${JSON.stringify(HOSTILE)}\n`
  writeFileSync(join(workIn(home), '.parley.toml'), table)
})

describe('nothing steers the terminal in', () => {
  test.each([
    [['run', '--embedded', HOSTILE]],
    [['run', '--embedded', '--json', HOSTILE]],
    [['ls']],
    [['ls', '--json']],
    [['show', 'ID']],
    [['show', '--json', 'ID']],
    [['search', 'evil']],
    [['search', '--json', 'evil']],
    [['export', 'ID']],
    [['export', 'ID', '--format', 'jsonl']],
    [['logs']],
    [['logs', '--json']],
    [['mcp', 'ls']],
    [['mcp', 'ls', '--json']],
    [['mcp', 'rm', HOSTILE]],
    [['mcp', 'trust', HOSTILE]],
    [['rules']],
    [['doctor']],
    [['doctor', '--json']],
    [['show', HOSTILE]],
    [['fork', 'ID', '--up-to', HOSTILE]],
    [['export', 'ID', '--format', HOSTILE]],
    [['run', '--agent', HOSTILE, 'hi']],
    [['run', '--cwd', HOSTILE, '--embedded', 'hi']],
    [['run', '--agent-command', `echo '${HOSTILE}' >&2; exit 3`.replaceAll(HOSTILE, 'x'), HOSTILE]],
    [['ls', '--cwd', HOSTILE]],
    [[HOSTILE]],
    [['ls', `--${HOSTILE}`]],
  ])('%j', async (words) => {
    const args = words.map((word) => (word === 'ID' ? id : word))
    const { stdout, stderr } = await parley(args, { home, agent })
    expect({ stdout: STEERING.exec(stdout), stderr: STEERING.exec(stderr) }).toEqual({ stdout: null, stderr: null })
  })
})

test('a line of JSON has the same value as ever', async () => {
  const shown = jsonLines((await parley(['show', '--json', id], { home })).stdout)
  expect(JSON.stringify(shown)).toContain(JSON.stringify(HOSTILE).slice(1, -1))
})
