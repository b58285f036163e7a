/** The push services that browsers use, for the first device that wants notifications. */
import { WebPush, type WebPushOptions } from '../../adapters/push/web-push.ts'
import type { PushService } from '../../ports/values/push.ts'

/** Throws when the keys in the state directory cannot be read or made. */
export function openWebPush(options: WebPushOptions): PushService {
  return new WebPush(options)
}
