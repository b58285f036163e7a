/** `_parley/access/*`: lists and changes who has access, for the page. `parley devices`, `token`, `pair` and `share` do the same on the machine. */
import { Credentials } from '../../credentials/key-ring.ts'
import type { Scope } from '../../credentials/scope.ts'
import type { Clock } from '../../ports/clock.ts'
import { Checked } from './checked-params.ts'

export type AccessMethod = 'list' | 'pair' | 'token' | 'share' | 'role' | 'remove'
type AccessMethods = Readonly<Record<`_parley/access/${AccessMethod}`, (params: unknown) => Promise<unknown>>>

const HOUR_MS = 60 * 60_000
const USUAL_HOURS = 24

/** Secrets are in the answer to who makes them, once, and nowhere else. */
export function accessMethods(home: string, clock: Pick<Clock, 'now'>): AccessMethods {
  const { devices, tokens, shares } = new Credentials(home, clock)
  return {
    '_parley/access/list': async () => ({ devices: devices.all(), tokens: tokens.all(), shares: shares.all() }),
    '_parley/access/pair': async (params) => {
      const fields = new Checked('_parley/access/pair', params)
      const grant = { role: fields.role('approve'), ...nameField(fields.text('name')), ...scoped(fields.scope()) }
      const { code, until } = devices.offer(grant)
      return { code, fragment: `pair=${code}`, until, role: grant.role }
    },
    '_parley/access/token': async (params) => {
      const fields = new Checked('_parley/access/token', params)
      const [name, role, scope] = [fields.required('name'), fields.role(), fields.scope()]
      return { name, role, scope, token: tokens.add(name, role, scope) }
    },
    '_parley/access/share': async (params) => {
      const fields = new Checked('_parley/access/share', params)
      const sessionId = fields.required('sessionId')
      const { link, code } = shares.add({
        sessionId,
        tools: fields.tools(),
        forMs: fields.hours(USUAL_HOURS) * HOUR_MS,
      })
      return { ...link, code, fragment: `share=${code}` }
    },
    '_parley/access/role': async (params) => {
      const fields = new Checked('_parley/access/role', params)
      return devices.setRole(fields.required('id'), fields.role())
    },
    '_parley/access/remove': async (params) => {
      const fields = new Checked('_parley/access/remove', params)
      const id = fields.required('id')
      switch (fields.required('kind')) {
        case 'device':
          return { removed: [devices.remove(id)] }
        case 'token':
          return { removed: [tokens.remove(id)] }
        case 'share':
          return { removed: shares.remove(id) }
        default:
          return fields.refuse('kind must be device, token or share')
      }
    },
  }
}

function nameField(name: string | undefined): { readonly name?: string } {
  return name === undefined ? {} : { name }
}

function scoped(scope: Scope): { readonly scope?: Scope } {
  return scope === 'all' ? {} : { scope }
}
