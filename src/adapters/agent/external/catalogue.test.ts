/** External agents by their names: how each is started, and what is known of it without that. */
import { expect, test } from 'vitest'
import { AgentCatalogue } from './catalogue.ts'
import type { OwnAgent } from './launch.ts'
import { SAFE } from './quirks.ts'

const mine: OwnAgent = { name: 'mine', command: '/opt/mine', args: ['acp'], env: { KEY: 'x' }, passEnv: [], quirks: {} }

function catalogueWith(...own: readonly OwnAgent[]): AgentCatalogue {
  return new AgentCatalogue({ own: () => own, environment: () => ({ PATH: '/usr/bin' }) })
}

test('an agent of the settings file is started as it stands there', async () => {
  const launch = await catalogueWith({ ...mine, quirks: { lateMs: 300 }, mcp: 'pass' }).launch('acp:mine', { cwd: '/' })
  expect(launch).toEqual({
    name: 'mine',
    program: '/opt/mine',
    args: ['acp'],
    env: { PATH: '/usr/bin', KEY: 'x' },
    quirks: { ...SAFE, lateMs: 300 },
    mcp: 'pass',
    idleMinutes: 10,
    warm: false,
  })
})

test('a name that no agent has is none', async () => {
  expect(catalogueWith(mine).fullName('other')).toBeUndefined()
  expect(catalogueWith(mine).fullName('mine')).toBe('acp:mine')
  await expect(catalogueWith(mine).launch('acp:other', { cwd: '/' })).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' })
})

test('an agent of a project waits for consent', async () => {
  const waiting = catalogueWith({ ...mine, refused: 'nobody agreed' })
  await expect(waiting.launch('acp:mine', { cwd: '/' })).rejects.toMatchObject({ code: 'AGENT_NOT_ALLOWED' })
})

test('what an agent said of itself is known until it says something else', async () => {
  const catalogue = catalogueWith(mine)
  const said = { agentName: 'm', protocol: 1, capabilities: {}, logins: [], commands: [], needsLogin: false, at: 1 }
  const offers = { ...said, version: '', promptKinds: { image: true, audio: false, embeddedContext: false } }
  await catalogue.remember('acp:mine', '1.2.3', offers)
  expect(catalogue.offers('acp:mine')).toEqual({ ...offers, version: '1.2.3' })
  await expect(catalogue.launch('acp:mine', { cwd: '/' })).resolves.toMatchObject({ version: '1.2.3' })
})
