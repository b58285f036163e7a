/** `_parley/access/*`: lists and changes who has access, for the page. `parley devices`, `token`, `pair` and `share` do the same on the machine. */
import type { CredentialStore } from '../../credentials/credential-store.ts'
import type { Scope } from '../../credentials/scope.ts'
import { Checked } from './checked-params.ts'

export type AccessMethod = 'list' | 'pair' | 'token' | 'share' | 'role' | 'remove'
type AccessMethods = Readonly<Record<`_parley/access/${AccessMethod}`, (params: unknown) => Promise<unknown>>>

const HOUR_MS = 60 * 60_000
const USUAL_HOURS = 24

/** Secrets are in the answer to who makes them, once, and nowhere else. */
export function accessMethods(credentials: CredentialStore): AccessMethods {
  return {
    async '_parley/access/list'() {
      await credentials.refresh?.()
      const { devices, tokens, shares } = credentials.known
      return { devices: devices.all(), tokens: tokens.all(), shares: shares.all() }
    },
    '_parley/access/pair': async (params) => {
      const fields = new Checked('_parley/access/pair', params)
      const grant = { role: fields.role('approve'), ...nameField(fields.text('name')), ...scoped(fields.scope()) }
      const { code, until } = await credentials.change(({ devices }) => devices.offer(grant))
      return { code, fragment: `pair=${code}`, until, role: grant.role }
    },
    '_parley/access/token': async (params) => {
      const fields = new Checked('_parley/access/token', params)
      const [name, role, scope] = [fields.required('name'), fields.role(), fields.scope()]
      const token = await credentials.change(({ tokens }) => tokens.add(name, role, scope))
      return { name, role, scope, token }
    },
    '_parley/access/share': async (params) => {
      const fields = new Checked('_parley/access/share', params)
      const sessionId = fields.required('sessionId')
      const asked = { sessionId, tools: fields.tools(), forMs: fields.hours(USUAL_HOURS) * HOUR_MS }
      const { link, code } = await credentials.change(({ shares }) => shares.add(asked))
      return { ...link, code, fragment: `share=${code}` }
    },
    '_parley/access/role': async (params) => {
      const fields = new Checked('_parley/access/role', params)
      const [id, role] = [fields.required('id'), fields.role()]
      return credentials.change(({ devices }) => devices.setRole(id, role))
    },
    '_parley/access/remove': async (params) => {
      const fields = new Checked('_parley/access/remove', params)
      const id = fields.required('id')
      switch (fields.required('kind')) {
        case 'device':
          return { removed: [await credentials.change(({ devices }) => devices.remove(id))] }
        case 'token':
          return { removed: [await credentials.change(({ tokens }) => tokens.remove(id))] }
        case 'share':
          return { removed: await credentials.change(({ shares }) => shares.remove(id)) }
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
