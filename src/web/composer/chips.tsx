/** The settings of the session's agent, and how full its context is. */
import { useState } from 'preact/hooks'
import type { Setting } from '../../client/sessions/agent-settings.ts'
import { count, words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import type { App } from '../sessions/app.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import type { ContextUse } from '../thread/conversation.ts'

/** Modes in which nothing is asked any more. */
const RISKY = /^(?:allow-all|bypassPermissions|yolo|full-access)$/u

export function Chips({ app, session }: { readonly app: App; readonly session: OpenSession }) {
  const usage = session.talk.usage.value
  if (session.settings.value.length === 0 && usage === undefined) return null
  return (
    <div class="chips">
      {session.settings.value.map((setting) => (
        <Chip key={setting.id} setting={setting} session={session} isFixed={app.mayNot('approve')} />
      ))}
      {usage !== undefined && usage.size > 0 && <Context usage={usage} />}
    </div>
  )
}

interface ChipProps {
  readonly setting: Setting
  readonly session: OpenSession
  /** The role of this device may not change it. */
  readonly isFixed: boolean
}

function Chip({ setting, session, isFixed }: ChipProps) {
  const [asked, setAsked] = useState<string>()
  const { id, name, value, choices } = setting
  const set = (wanted: string): void => {
    if (RISKY.test(wanted) && asked !== wanted) return setAsked(wanted)
    setAsked(undefined)
    void session.set(id, wanted)
  }
  if (typeof value === 'boolean')
    return (
      <label class="chip">
        <input
          type="checkbox"
          checked={value}
          disabled={isFixed}
          onChange={({ currentTarget }) => set(String(currentTarget.checked))}
        />
        {spelledOut(name)}
      </label>
    )
  const isRisky = RISKY.test(value)
  return (
    <>
      <label class={isRisky ? 'chip risky' : 'chip'} title={isRisky ? words().risky : spelledOut(name)}>
        {isRisky && <span aria-hidden="true">⚠</span>}
        <span class="hidden">{spelledOut(name)}</span>
        <select value={asked ?? value} disabled={isFixed} onChange={({ currentTarget }) => set(currentTarget.value)}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {spelledOut(choice.name)}
            </option>
          ))}
        </select>
      </label>
      {asked !== undefined && (
        <span class="confirm" role="alert">
          {words().allowAllAsk}{' '}
          <button type="button" onClick={() => set(asked)}>
            {words().yes}
          </button>
          <button type="button" class="second" onClick={() => setAsked(undefined)}>
            {words().cancel}
          </button>
        </span>
      )}
    </>
  )
}

const ROUND = 2 * Math.PI * 6

function Context({ usage: { used, size, cost } }: { readonly usage: ContextUse }) {
  const percent = Math.round((100 * used) / size)
  const { context, contextLong } = words()
  const state = percent >= 95 ? 'full' : percent >= 80 ? 'nearly' : ''
  const price = cost === undefined ? '' : ` · ${cost.amount.toFixed(2)} ${cost.currency}`
  return (
    <span class={`context ${state}`} title={contextLong(count(used), count(size)) + price}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <circle cx="8" cy="8" r="6" class="all" />
        <circle
          cx="8"
          cy="8"
          r="6"
          class="used"
          stroke-dasharray={`${(Math.min(1, used / size) * ROUND).toFixed(2)} ${ROUND.toFixed(2)}`}
        />
      </svg>
      {context(percent)}
      {price}
    </span>
  )
}
