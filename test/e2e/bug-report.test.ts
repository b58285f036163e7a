/** `parley doctor --bundle`: what a report has of a server, and what it must not have. */
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { logPathIn } from '../../src/server/log/log-line.ts'
import { reportRedactor } from '../../src/server/doctor/redact.ts'
import { endServers, parley } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

endServers()

/** In every place where a secret or a word of a user may stand. */
const PLANTED = {
  variable: 'planted-variable-8c1f',
  setting: 'planted-setting-77aa',
  header: 'planted-header "quoted" 51',
  prompt: 'planted prompt about a divorce',
  answer: 'planted answer about a lawyer',
  title: 'planted title of a session',
  bearer: 'planted0bearer0token0123',
}

describe.concurrent('parley doctor --bundle', () => {
  test('has what a report needs, and none of the secrets and words that were planted', async () => {
    const home = freshDirectory()
    mkdirSync(join(home, 'config/parley'), { recursive: true })
    writeFileSync(
      join(home, 'config/parley/parley.toml'),
      `[mcp.files]
url = "https://user:${PLANTED.setting}@mcp.example/?key=${PLANTED.setting}"
headers = { Authorization = ${JSON.stringify(PLANTED.header)} }
`,
    )
    const env = { ANTHROPIC_API_KEY: PLANTED.variable, PARLEY_CLIENT_TOKEN: PLANTED.setting }
    const agent = await scriptAgent(home, [{ chunk: PLANTED.answer }])
    const place = { home, agent, env }
    expect((await parley(['run', PLANTED.prompt], place)).code).toBe(0)
    const [{ sessionId }] = (await parley(['ls', '--json'], place)).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly sessionId: string }) as [{ readonly sessionId: string }]
    await parley(['rename', sessionId, PLANTED.title], place)
    const logged = {
      level: 50,
      time: 1,
      msg: `refused ${PLANTED.header}`,
      err: { message: `Authorization: Bearer ${PLANTED.bearer}`, stack: `Error: ${PLANTED.variable}\n at x` },
      cwd: PLANTED.prompt,
    }
    appendFileSync(logPathIn(home), `${JSON.stringify(logged)}\n{"cut`)
    const file = join(home, 'report.json')
    const { code, stdout } = await parley(['doctor', '--bundle', file], place)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    const text = readFileSync(file, 'utf8')
    for (const secret of Object.values(PLANTED)) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(JSON.stringify(secret).slice(1, -1))
    }
    const report = JSON.parse(text) as Readonly<Record<string, unknown>>
    expect(report).toMatchObject({
      parley: { node: process.version, journalFormat: 1 },
      system: { platform: process.platform },
      settings: { clientToken: 'present', maxSteps: 100 },
      findings: expect.arrayContaining([expect.objectContaining({ what: 'journal', state: 'ok' })]),
    })
    expect(report['log']).toContainEqual(expect.objectContaining({ msg: 'refused [removed]' }))
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('replaces no file', async () => {
    const home = freshDirectory()
    const file = join(home, 'mine.txt')
    writeFileSync(file, 'mine')
    const { code, stderr } = await parley(['doctor', '--bundle', file], { home })
    expect(code).toBe(1)
    expect(stderr).toContain('Name a file that is not there yet.')
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })
})

describe.concurrent('what looks like a secret is removed', () => {
  const redact = reportRedactor({ environment: { HOME: '/home/ada' }, settings: [], home: '/home/ada' })

  test.each([
    ['Bearer abcdef123456', '[removed]'],
    ['sk-ant-0123456789abcdef', '[removed]'],
    ['https://ada:pw@example.com/x', 'https://[removed]example.com/x'],
    ['postgres://ada:p@ss@db/x', 'postgres://[removed]db/x'],
    ['https://example.com/?token=abc&x=1', 'https://example.com/?[removed]&[removed]'],
    ['/home/ada/project', '~/project'],
    ['a plain sentence.', 'a plain sentence.'],
  ])('%s', (text, expected) => expect(redact(text)).toBe(expected))
})
