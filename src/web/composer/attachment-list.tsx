/** What goes with the prompt that is being written. */
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { Icon } from '../page/icons.tsx'
import type { OpenSession } from '../sessions/open-session.ts'

export function AttachmentList({ session }: { readonly session: OpenSession }) {
  const attached = session.draft.attached.value
  if (attached.length === 0) return null
  const { attachments, removeNamed } = words()
  return (
    <ul class="attachments" aria-label={attachments}>
      {attached.map(({ key, name }) => (
        <li key={key}>
          <span class="text">{spelledOut(name)}</span>
          <button
            type="button"
            class="quiet bare"
            aria-label={removeNamed(spelledOut(name))}
            onClick={() => session.draft.detach(key)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  )
}
