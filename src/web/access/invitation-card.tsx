/** What was just made, this once: a link with its QR code, or a token. */
import { encode } from 'uqr'
import { useMemo } from 'preact/hooks'
import { clockTime, words } from '../i18n/language.ts'
import { CopyButton } from '../page/controls.tsx'
import type { AccessList, Made } from './access-list.ts'

export function InvitationCard({ made, list }: { readonly made: Made; readonly list: AccessList }) {
  const { access, close } = words()
  const text = made.kind === 'token' ? made.token : `${new URL('./', document.baseURI).href}#${made.fragment}`
  return (
    <div class="card made" role="status">
      <p class="card-head">
        <strong>{made.kind === 'token' ? access.madeToken : access.madeLink}</strong>
      </p>
      {made.kind !== 'token' && <QrCode text={text} />}
      <p class="secret">
        <code>{text}</code>
        <CopyButton text={text} />
      </p>
      <p class="soft">{sentenceFor(made)}</p>
      {made.kind === 'device' && isThisMachine() && <p class="soft">{access.onlyHere}</p>}
      <button type="button" class="second" onClick={() => (list.made.value = undefined)}>
        {close}
      </button>
    </div>
  )
}

function sentenceFor(made: Made): string {
  const { access } = words()
  if (made.kind === 'token') return access.tokenOnce
  const time = clockTime(Date.parse(made.until))
  return made.kind === 'device' ? access.linkOnce(time) : access.linkMany(time)
}

/** No other device reaches it under this address. */
function isThisMachine(): boolean {
  return /^(?:localhost|127\.|\[::1\])/u.test(location.hostname)
}

/** Dark on light in both colour schemes: readers of codes want it so. */
function QrCode({ text }: { readonly text: string }) {
  const { size, path } = useMemo(() => {
    const { data, size } = encode(text, { border: 2 })
    const rows = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    return { size, path: rows.join('') }
  }, [text])
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={words().access.qr}>
      <rect width={size} height={size} class="light" />
      <path d={path} class="dark" />
    </svg>
  )
}
