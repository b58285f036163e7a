/** Slash commands that fit what is being written. */
import type { Command } from '../../client/incoming/updates.ts'
import { spelledOut } from '../markdown/invisible.ts'
import type { OpenSession } from '../sessions/open-session.ts'

const MOST = 8

export function CommandList({ session }: { readonly session: OpenSession }) {
  const found = fitting(session.talk.commands.value, session.draft.value)
  if (found.length === 0) return null
  return (
    <ul class="commands">
      {found.map(({ name, description }) => (
        <li key={name}>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              session.write(`/${name} `)
              session.wantsFocus.value += 1
            }}
          >
            <code>/{spelledOut(name)}</code> <span class="soft">{spelledOut(description ?? '')}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Of the first word of a draft, as long as it is the only one. */
export function fitting(commands: readonly Command[], draft: string): readonly Command[] {
  const typed = /^\/([^\s]*)$/u.exec(draft)?.[1]?.toLowerCase()
  if (typed === undefined) return []
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(typed))
  const has = commands.filter(
    ({ name }) => !begins.some((one) => one.name === name) && name.toLowerCase().includes(typed),
  )
  return [...begins, ...has].slice(0, MOST)
}

/** The draft with the first command that fits; undefined when none does. */
export function completed(session: OpenSession, draft: string): string | undefined {
  const [first] = fitting(session.talk.commands.peek(), draft)
  return first === undefined ? undefined : `/${first.name} `
}
