/**
 * The devices that want notifications, and the addresses of their browsers: a file of the state directory. A device
 * that loses its access is removed here too.
 */
import { CredentialFile } from '../../credentials/credential-file.ts'
import { isHash } from '../../credentials/secret.ts'
import type { PushTarget } from '../../ports/values/push.ts'

export interface DeviceSubscription {
  /** The hash of the device's credential. */
  readonly device: string
  readonly target: PushTarget
  /** Whether a notification has buttons that answer a question. */
  readonly answers: boolean
}

interface SubscriptionsFile {
  readonly subscriptions: readonly DeviceSubscription[]
}

/** A device has one browser. */
const MAX_SUBSCRIPTIONS = 256

export class Subscriptions {
  readonly #file: CredentialFile<SubscriptionsFile>
  #all: readonly DeviceSubscription[] | undefined

  constructor(home: string) {
    this.#file = new CredentialFile(home, 'push-subscriptions.json', {
      empty: { subscriptions: [] },
      isContent: isSubscriptionsFile,
    })
  }

  /** Throws TOKENS_UNUSABLE. */
  get all(): readonly DeviceSubscription[] {
    this.#all ??= this.#file.read().subscriptions
    return this.#all
  }

  of(device: string): DeviceSubscription | undefined {
    return this.all.find((one) => one.device === device)
  }

  /** In place of the one that the device had, and of one of the same browser from when it was another device. Throws TOKENS_UNUSABLE. */
  put(subscription: DeviceSubscription): void {
    const { endpoint } = subscription.target
    const others = this.all.filter((one) => one.device !== subscription.device && one.target.endpoint !== endpoint)
    this.#change([...others, subscription].slice(-MAX_SUBSCRIPTIONS))
  }

  /** Throws TOKENS_UNUSABLE. */
  remove(devices: readonly string[]): void {
    const left = this.all.filter(({ device }) => !devices.includes(device))
    if (left.length < this.all.length) this.#change(left)
  }

  #change(subscriptions: readonly DeviceSubscription[]): void {
    this.#file.change(() => ({ content: { subscriptions }, result: undefined }))
    this.#all = subscriptions
  }
}

function isSubscriptionsFile(value: unknown): value is SubscriptionsFile {
  const all = (value as { readonly subscriptions?: unknown } | null)?.subscriptions
  return Array.isArray(all) && all.every(isSubscription)
}

function isSubscription(value: unknown): value is DeviceSubscription {
  const { device, target, answers } = (value ?? {}) as Partial<DeviceSubscription>
  const { endpoint, p256dh, auth } = target ?? {}
  const isTarget = [endpoint, p256dh, auth].every((one) => typeof one === 'string')
  return isHash(device) && isTarget && typeof answers === 'boolean'
}
