/** Small controls that many screens have. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { Icon, type IconName } from './icons.tsx'

const COPIED_MS = 1_500

export function CopyButton({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return undefined
    const timer = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => setCopied(true))
  }
  const label = isCopied ? words().copied : words().copy
  return (
    <button type="button" class="quiet bare" aria-label={label} title={label} onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  )
}

export function IconButton({
  icon,
  label,
  onPress,
}: {
  readonly icon: IconName
  readonly label: string
  readonly onPress: () => void
}) {
  return (
    <button type="button" class="quiet bare" aria-label={label} title={label} onClick={onPress}>
      <Icon name={icon} />
    </button>
  )
}

interface MenuProps {
  readonly label: string
  readonly icon?: ComponentChildren
  /** After one of its items was chosen. */
  readonly staysOpen?: boolean
  readonly children: ComponentChildren
}

/** A menu of buttons below the one that opens it; Escape and a click elsewhere close it. */
export function Menu({ label, icon, staysOpen = false, children }: MenuProps) {
  const ref = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event): void => {
      const { current } = ref
      if (current === null || !current.open) return
      const isInside = event.target instanceof Node && current.contains(event.target)
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !isInside) current.open = false
    }
    addEventListener('click', close)
    addEventListener('keydown', close)
    return () => {
      removeEventListener('click', close)
      removeEventListener('keydown', close)
    }
  }, [])
  return (
    <details class="menu" ref={ref}>
      <summary aria-label={label} title={label}>
        {icon ?? <Icon name="more" />}
      </summary>
      <div class="items" onClick={() => !staysOpen && ref.current?.removeAttribute('open')}>
        {children}
      </div>
    </details>
  )
}

/** The shape, the word and the colour of a state. */
const MARKS: Readonly<Record<string, string>> = {
  working: '●',
  cancelling: '●',
  waiting: '?',
  suspended: '◐',
  interrupted: '!',
  error: '!',
  closed: '×',
  idle: '✓',
}

export function StateMark({ phase }: { readonly phase: string }) {
  const phases: Readonly<Record<string, string>> = words().phases
  return (
    <span class={`state ${phase}`} role="img" aria-label={phases[phase] ?? phase} title={phases[phase] ?? phase}>
      {MARKS[phase] ?? '·'}
    </span>
  )
}
