/** Stops the turn; an agent that does not listen can be ended by force. */
import { useEffect, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { Icon } from '../page/icons.tsx'
import type { OpenSession } from '../sessions/open-session.ts'

const FORCE_AFTER_MS = 3_000

export function StopButton({ session }: { readonly session: OpenSession }) {
  const [mayForce, setMayForce] = useState(false)
  const since = session.stopSince.value
  useEffect(() => {
    setMayForce(false)
    if (since === undefined) return undefined
    const timer = setTimeout(() => setMayForce(true), FORCE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [since])
  const { stop, force, forceHint } = words()
  if (mayForce)
    return (
      <button type="button" class="stop force" title={forceHint} onClick={() => void session.force()}>
        <Icon name="stop" />
        {force}
      </button>
    )
  return (
    <button type="button" class="stop" disabled={since !== undefined} onClick={() => session.stop()}>
      <Icon name="stop" />
      {stop}
    </button>
  )
}
