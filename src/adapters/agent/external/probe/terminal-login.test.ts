import { describe, expect, test } from 'vitest'
import { SAFE } from '../quirks.ts'
import { terminalLogin } from './terminal-login.ts'

const started = { program: '/usr/bin/node', args: ['/copies/claude.js'], env: { HOME: '/home/one' } }
const claude = { name: 'claude', ...started, quirks: SAFE, mcp: 'front' as const, idleMinutes: 10 }
const login = (type: string, raw: object) => ({ id: 'tty', name: 'In a terminal', type, raw: { ...raw } })

describe('a login in a terminal', () => {
  test('is what its _meta describes, whatever else it says', () => {
    const meta = { command: '/bin/agent', args: ['login'], env: { A: 'b' }, label: 'Log in' }
    expect(terminalLogin(claude, login('terminal', { args: ['--other'], _meta: { 'terminal-auth': meta } }))).toEqual({
      program: '/bin/agent',
      args: ['login'],
      env: { HOME: '/home/one', A: 'b' },
    })
  })

  test('is the program that Parley starts where the agent names itself by a name that may not be on PATH', () => {
    const meta = { command: 'claude-agent-acp', args: ['--cli', 'auth', 'login'] }
    expect(terminalLogin(claude, login('agent', { _meta: { 'terminal-auth': meta } }))).toMatchObject({
      program: '/usr/bin/node',
      args: ['/copies/claude.js', '--cli', 'auth', 'login'],
    })
  })
})
