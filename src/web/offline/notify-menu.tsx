/** Whether this device gets notifications while its page is closed. Off until the reader turns it on. */
import { useEffect, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { Icon } from '../page/icons.tsx'
import { Menu } from '../page/controls.tsx'
import type { App } from '../sessions/app.ts'
import { sentenceOf } from '../sessions/error-sentences.ts'

interface Notifying {
  readonly key: string
  readonly on: boolean
  readonly answers: boolean
}

export function NotifyMenu({ app }: { readonly app: App }) {
  const [state, setState] = useState<Notifying>()
  const { label, tell, buttons, why } = words().notify
  useEffect(() => void ask({}).then(setState, () => undefined), [])
  if (state === undefined) return null
  const change = (work: () => Promise<Notifying>): void => {
    void app.attempt(async () => setState(await work()))
  }
  return (
    <Menu label={label} icon={<Icon name={state.on ? 'bellOn' : 'bell'} />} staysOpen>
      <label class="check">
        <input
          type="checkbox"
          checked={state.on}
          onChange={() => change(() => (state.on ? turnOff() : turnOn(state.key, false)))}
        />
        {tell}
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={state.answers}
          disabled={!state.on || app.mayNot('approve')}
          onChange={() => change(() => turnOn(state.key, !state.answers))}
        />
        {buttons}
      </label>
      <p class="soft">{why}</p>
    </Menu>
  )
}

/** The browser asks the reader, who has just pressed something. */
async function turnOn(key: string, answers: boolean): Promise<Notifying> {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error(words().notify.refused)
  const { pushManager } = await navigator.serviceWorker.ready
  const options = { userVisibleOnly: true, applicationServerKey: bytesOf(key) }
  const subscription = await pushManager.subscribe(options).catch(async (error: unknown) => {
    // One for other keys, such as those of a server that was set up anew.
    const old = await pushManager.getSubscription()
    if (old === null) throw new Error(words().notify.impossible(sentenceOf(error)))
    await old.unsubscribe()
    return pushManager.subscribe(options)
  })
  const { endpoint, keys } = subscription.toJSON()
  return ask({ endpoint, ...keys, answers })
}

async function turnOff(): Promise<Notifying> {
  const { pushManager } = await navigator.serviceWorker.ready
  await (await pushManager.getSubscription())?.unsubscribe()
  return ask({ off: true })
}

async function ask(body: object): Promise<Notifying> {
  const response = await fetch(new URL('push', document.baseURI), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error((await response.text()).trim())
  return (await response.json()) as Notifying
}

function bytesOf(key: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.codePointAt(0) ?? 0)
}
