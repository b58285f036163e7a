/**
 * Devices: a phone, a browser, a laptop that was paired with the server. A link with a pairing code makes one device,
 * once; the device then has a token of its own. The state directory keeps only the SHA-256 of codes and tokens.
 */
import { ParleyError, fail } from '../errors/parley-error.ts'
import type { Clock } from '../ports/clock.ts'
import { type CredentialDocument, type CredentialPlace, documentIn } from './credential-documents.ts'
import { isUseDue } from './credential-file.ts'
import { freeName } from './free-name.ts'
import { type Role, isRole } from './roles.ts'
import { type Scope, isScope } from './scope.ts'
import { hashOf, isHash, linkIdOf, newPublicId, newLinkCode, newToken } from './secret.ts'

/** The name, role and scope that a pairing code gives to a device. */
export interface PairingGrant {
  readonly role: Role
  /** Absent: every session. */
  readonly scope?: Scope
  /** The name of the device; absent: the device says it. */
  readonly name?: string
}

export interface Device {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Absent: every session. */
  readonly scope?: Scope
  /** ISO 8601. */
  readonly created: string
  /** When it last connected, to the minute, at first when it was paired. ISO 8601. */
  readonly lastUsed: string
}

export interface StoredDevice extends Device {
  readonly sha256: string
}

interface StoredCode extends PairingGrant {
  readonly id: string
  /** ISO 8601. */
  readonly until: string
  readonly triesLeft: number
  readonly sha256: string
}

interface DevicesFile {
  readonly devices: readonly StoredDevice[]
  readonly codes: readonly StoredCode[]
}

const SPENT = 'it was used, or is too old'
/** How long a code may be used. */
const CODE_MS = 10 * 60_000
const CODE_TRIES = 5
const DAY_MS = 24 * 60 * 60_000
/** A device that is not used for so long is one no longer. */
const UNUSED_DAYS = 90

/** All visible; spaces only between others. */
const DEVICE_NAME = /^(?! )[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}(?<! )$/u

export interface PairingOffer {
  readonly code: string
  /** ISO 8601. */
  readonly until: string
}

/** A device that has just been made. Its token is shown this once. */
export interface Paired {
  readonly device: Device
  readonly token: string
}

export class Devices {
  readonly #file: CredentialDocument<DevicesFile>
  readonly #now: Clock['now']

  constructor(place: CredentialPlace, clock: Pick<Clock, 'now'>) {
    this.#file = documentIn(place, 'devices', {
      empty: { devices: [], codes: [] },
      isContent: isDevicesFile,
    })
    this.#now = () => clock.now()
  }

  /** The code can be used once, within ten minutes. Throws DEVICE_NAME_INVALID and TOKENS_UNUSABLE. */
  offer(grant: PairingGrant): PairingOffer {
    if (grant.name !== undefined) requireName(grant.name)
    const code = newLinkCode()
    const until = new Date(this.#now() + CODE_MS).toISOString()
    return this.#file.change((content) => {
      const { devices, codes } = this.#current(content)
      const made = { ...grant, id: linkIdOf(code), until, triesLeft: CODE_TRIES, sha256: hashOf(code) }
      // Of two codes with one id only one could be found.
      const others = codes.filter(({ id }) => id !== made.id)
      return { content: { devices, codes: [...others, made] }, result: { code, until } }
    })
  }

  /**
   * Makes a device of the client that has the code. A wrong code counts as a try at the one that it begins like; where there is
   * none, nothing is written, since anyone who reaches the port may try. Throws PAIRING_CODE_INVALID and TOKENS_UNUSABLE.
   */
  pair(code: string, saidName: string): Paired {
    if (!this.#current(this.#file.read()).codes.some(({ id }) => id === linkIdOf(code))) throw refusal(SPENT)
    const paired = this.#file.change<Paired | ParleyError>((content) => {
      const { devices, codes } = this.#current(content)
      const found = codes.find(({ id }) => id === linkIdOf(code))
      if (found === undefined) return { content: { devices, codes }, result: refusal(SPENT) }
      const others = codes.filter((one) => one !== found)
      if (found.sha256 !== hashOf(code)) {
        const triesLeft = found.triesLeft - 1
        const left = triesLeft > 0 ? [...others, { ...found, triesLeft }] : others
        return { content: { devices, codes: left }, result: refusal('it is not complete') }
      }
      const made = this.#deviceFrom(found, { saidName, devices })
      const { sha256: _hash, ...device } = made.stored
      return { content: { devices: [...devices, made.stored], codes: others }, result: { device, token: made.token } }
    })
    if (paired instanceof ParleyError) throw paired
    return paired
  }

  /** Whether the code is unused. Throws TOKENS_UNUSABLE. */
  isOffered(code: string): boolean {
    const sha256 = hashOf(code)
    return this.#current(this.#file.read()).codes.some((one) => one.sha256 === sha256)
  }

  /** By its id or its name. Running servers cut its connections within a second. Throws DEVICE_UNKNOWN and TOKENS_UNUSABLE. */
  remove(idOrName: string): Device {
    return this.#file.change((content) => {
      const { devices, codes } = this.#current(content)
      const gone = devices.find(({ id }) => id === idOrName) ?? devices.find(({ name }) => name === idOrName)
      if (gone === undefined) return fail('DEVICE_UNKNOWN', { name: JSON.stringify(idOrName) })
      return { content: { devices: devices.filter((one) => one !== gone), codes }, result: publicDevice(gone) }
    })
  }

  /** The device with the token of this hash leaves by itself. Throws TOKENS_UNUSABLE. */
  forget(sha256: string): void {
    this.#file.change((content) => {
      const { devices, codes } = this.#current(content)
      return { content: { devices: devices.filter((one) => one.sha256 !== sha256), codes }, result: undefined }
    })
  }

  /** Running servers cut its connections, which may come back with the new role. Throws DEVICE_UNKNOWN and TOKENS_UNUSABLE. */
  setRole(id: string, role: Role): Device {
    return this.#file.change((content) => {
      const { devices, codes } = this.#current(content)
      const changed = devices.find((one) => one.id === id) ?? fail('DEVICE_UNKNOWN', { name: JSON.stringify(id) })
      const now = { ...changed, role }
      return { content: { devices: devices.with(devices.indexOf(changed), now), codes }, result: publicDevice(now) }
    })
  }

  /** In the order in which they were paired. Throws TOKENS_UNUSABLE. */
  all(): readonly Device[] {
    return this.stored().map(publicDevice)
  }

  /** With their hashes. Throws TOKENS_UNUSABLE. */
  stored(): readonly StoredDevice[] {
    return this.#current(this.#file.read()).devices
  }

  /** Takes those that it does not have, with another name if theirs is taken. Returns how many. Throws TOKENS_UNUSABLE. */
  adopt(others: readonly StoredDevice[]): number {
    return this.#file.change((content) => {
      const { devices, codes } = this.#current(content)
      const all = [...devices]
      for (const other of others)
        if (!all.some(({ id, sha256 }) => sha256 === other.sha256 || id === other.id))
          all.push({ ...other, name: freeName(other.name, { among: all, join: ' ' }) })
      return { content: { devices: all, codes }, result: all.length - devices.length }
    })
  }

  /** Notes that it has connected. Nothing waits for this: where another process changes the file, it is left out. */
  used(sha256: string): void {
    if (!this.stored().some((one) => one.sha256 === sha256 && isUseDue(one.lastUsed, this.#now()))) return
    const lastUsed = new Date(this.#now()).toISOString()
    this.#file.changeIfFree(({ devices, codes }) => ({
      devices: devices.map((one) => (one.sha256 === sha256 ? { ...one, lastUsed } : one)),
      codes,
    }))
  }

  #deviceFrom({ role, scope, name }: StoredCode, { saidName, devices }: Introduced) {
    const token = newToken()
    const time = new Date(this.#now()).toISOString()
    const stored: StoredDevice = {
      id: newPublicId(),
      name: freeName(name ?? (DEVICE_NAME.test(saidName) ? saidName : 'device'), { among: devices, join: ' ' }),
      role,
      ...(scope !== undefined && { scope }),
      created: time,
      lastUsed: time,
      sha256: hashOf(token),
    }
    return { stored, token }
  }

  /** Without what is too old. */
  #current({ devices, codes }: DevicesFile): DevicesFile {
    const now = this.#now()
    return {
      devices: devices.filter(({ lastUsed }) => now < Date.parse(lastUsed) + UNUSED_DAYS * DAY_MS),
      codes: codes.filter(({ until }) => now < Date.parse(until)),
    }
  }
}

interface Introduced {
  readonly saidName: string
  readonly devices: readonly StoredDevice[]
}

function requireName(name: string): void {
  if (!DEVICE_NAME.test(name)) fail('DEVICE_NAME_INVALID', { name: JSON.stringify(name) })
}

function refusal(reason: string): ParleyError {
  return new ParleyError('PAIRING_CODE_INVALID', { reason })
}

function publicDevice({ sha256: _secret, ...device }: StoredDevice): Device {
  return device
}

function isDevicesFile(value: unknown): value is DevicesFile {
  const { devices, codes } = (value ?? {}) as { readonly devices?: unknown; readonly codes?: unknown }
  return Array.isArray(devices) && devices.every(isDevice) && Array.isArray(codes) && codes.every(isCode)
}

function isDevice(value: unknown): value is StoredDevice {
  if (!isGranted(value)) return false
  const { name, created, lastUsed } = value
  return typeof name === 'string' && isTime(created) && isTime(lastUsed)
}

function isCode(value: unknown): value is StoredCode {
  if (!isGranted(value)) return false
  const { name, until, triesLeft } = value
  return (name === undefined || typeof name === 'string') && isTime(until) && Number.isInteger(triesLeft)
}

/** Checks the fields that devices and pairing codes have in common. */
function isGranted(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const { id, role, scope = 'all', sha256 } = value as Readonly<Record<string, unknown>>
  return typeof id === 'string' && isRole(role) && isScope(scope) && isHash(sha256)
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}
