/** Methods of ours about the server: where it listens, and what a device may do (docs/internals/protocol.md). */
import type { Fields } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { onResult } from '../mutant.ts'
import { fieldsOf, listOf } from '../record.ts'
import type { Stage } from '../stage.ts'

interface Door {
  readonly url: string
  readonly address: string
}

const ANY_PORT = '127.0.0.1:0'

/** Opens a port of loopback, and closes it whatever comes. Other ports stay as they are. */
async function behindDoor<Seen>(stage: Stage, play: (door: Door) => Promise<Seen>): Promise<Seen> {
  stage.offers('_parley/listen')
  const before = new Set(addressesIn(await stage.ask('_parley/listen', {})))
  const opened = await stage.ask('_parley/listen', { open: [ANY_PORT] })
  const address = addressesIn(opened).find((known) => !before.has(known)) ?? ''
  const url = listOf(opened['listening'])
    .map(fieldsOf)
    .find((listening) => listening['address'] === address)?.['url']
  try {
    return await play({ address, url: String(url) })
  } finally {
    await stage.ask('_parley/listen', { close: [address] })
  }
}

function addressesIn(answer: Fields): readonly string[] {
  return listOf(answer['listening']).map((listening) => String(fieldsOf(listening)['address']))
}

async function statusOf(asking: Promise<Response>): Promise<number> {
  return asking.then(
    ({ status }) => status,
    () => 0,
  )
}

export const accessCases: readonly Case[] = [
  one('A-EX-1', 'a port is opened while the server runs, asks for a credential, and is closed again', {
    tags: ['ours'],
    play: async (stage) => {
      const page = (url: string, path: string) => statusOf(fetch(new URL(path, url)))
      const { url, seen } = await behindDoor(stage, async (door) => ({
        url: door.url,
        seen: [await page(door.url, 'healthz'), await page(door.url, 'acp')],
      }))
      return [...seen, await page(url, 'healthz')]
    },
    check: (seen) => unless(JSON.stringify(seen) === '[200,401,0]', `it answered ${JSON.stringify(seen)}`),
    mutant: { ...onResult('_parley/listen', 'listening', []), each: true },
  }),
  one('A-EX-1', 'a device comes in by its link once, is given another role, and is removed', {
    tags: ['ours'],
    play: async (stage) =>
      behindDoor(stage, async ({ url }) => {
        const { code } = await stage.ask('_parley/access/pair', { role: 'approve' })
        const body = JSON.stringify({ code, name: stage.directory })
        const headers = { 'content-type': 'application/json' }
        const pair = () => fetch(new URL('pair', url), { method: 'POST', headers, body })
        const statuses = [await statusOf(pair()), await statusOf(pair())]
        const device = async (): Promise<Fields | undefined> =>
          listOf((await stage.ask('_parley/access/list', {}))['devices'])
            .map(fieldsOf)
            .find(({ name }) => name === stage.directory)
        const id = (await device())?.['id']
        const changed = await stage.ask('_parley/access/role', { id, role: 'read' })
        const roles = [changed['role'], (await device())?.['role']]
        const { error } = await stage.a.request('_parley/access/role', { id, role: 'owner' })
        await stage.ask('_parley/access/remove', { kind: 'device', id })
        return { statuses, roles, refusal: error?.code, left: await device() }
      }),
    check: ({ statuses, roles, refusal, left }) =>
      first(
        unless(statuses[0] === 200 && statuses[1] !== 200, `its link was answered ${JSON.stringify(statuses)}`),
        unless(JSON.stringify(roles) === '["read","read"]', `its roles became ${JSON.stringify(roles)}`),
        unless(refusal === -32_602, `a role that is none was answered ${JSON.stringify(refusal)}`),
        unless(left === undefined, 'it is still listed'),
      ),
    mutant: onResult('_parley/access/role', 'role', 'approve'),
  }),
]
