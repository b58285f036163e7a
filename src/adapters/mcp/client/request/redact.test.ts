import { expect, test } from 'vitest'
import { serverOrigin, redactor } from './redact.ts'

const withEnv = (env: Readonly<Record<string, string>>) =>
  redactor({ type: 'stdio', name: 's', command: 'c', args: [], env })

test('no value of env is shown, not even a part of one', () => {
  const redact = withEnv({ A: 'secret-one', B: 'secret-one-longer', C: 'x', D: 'Bearer tok-42' })
  expect(redact('x: secret-one-longer, secret-one\n  and tok-42')).toBe('x: [hidden], [hidden] and [hidden]')
})

test('no header, query, password or key in the path is shown, encoded or not', () => {
  const url = 'https://sam:pa55word@mcp.example/s/0123456789abcdef0123/mcp?api_key=a%20secret&b=other'
  const redact = redactor({ type: 'http', name: 's', url, headers: [['Authorization', 'Bearer tok-42']] })
  const said = redact(`${url} / a secret / a%20secret / tok-42 / pa55word / 0123456789abcdef0123`)
  for (const secret of ['secret', 'tok-42', 'pa55word', '0123456789abcdef', 'other']) expect(said).not.toContain(secret)
  expect(serverOrigin(url)).toBe('https://mcp.example')
})

test('no value is shown as it stands in JSON, in a URL or in a form, nor decoded', () => {
  const secret = 'pa"ss\\wörd & more'
  const redact = withEnv({ A: secret })
  const forms = [JSON.stringify(secret), encodeURIComponent(secret), new URLSearchParams({ a: secret }).toString()]
  for (const form of forms) expect(redact(form)).not.toMatch(/pa|ss|rd/u)
  const packed = `Basic ${Buffer.from('sam:hunter-2').toString('base64')}`
  const url = 'https://sam:p%20w-5entinel@mcp.example/'
  const remote = redactor({ type: 'http', name: 's', url, headers: [['Authorization', packed]] })
  expect(remote('refused hunter-2 and p w-5entinel')).toBe('refused [hidden] and [hidden]')
})

test('a long text is shortened', () => {
  const redact = withEnv({})
  expect(redact('x'.repeat(5000))).toHaveLength(301)
})
