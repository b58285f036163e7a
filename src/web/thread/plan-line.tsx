/** The plan of the agent as one line, which opens to the list. */
import { isRunning } from '../composer/composer.tsx'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { Icon } from '../page/icons.tsx'
import type { OpenSession } from '../sessions/open-session.ts'

const MARKS: Readonly<Record<string, string>> = { completed: '✓', in_progress: '●', pending: '○' }

export function PlanLine({ session }: { readonly session: OpenSession }) {
  const entries = session.talk.plan.value
  if (entries.length === 0) return null
  const done = entries.filter(({ status }) => status === 'completed').length
  const present =
    entries.find(({ status }) => status === 'in_progress') ?? entries.find(({ status }) => status !== 'completed')
  const isOpen = session.folds.isOpen('plan')
  const { plan, planNow, planNext, planDone } = words()
  // Nothing is done now once the turn has ended, or was stopped.
  const what = isRunning(session.phase.value) ? planNow : planNext
  return (
    <section class="plan">
      <button type="button" class="summary" aria-expanded={isOpen} onClick={() => session.folds.set('plan', !isOpen)}>
        <Icon name={isOpen ? 'open' : 'shut'} />
        <span>{plan(done, entries.length)}</span>
        <span class="soft title">· {present === undefined ? planDone : what(spelledOut(present.content))}</span>
      </button>
      {isOpen && (
        <ol>
          {entries.map(({ content, status = 'pending' }, index) => (
            <li key={index} class={status}>
              <span aria-hidden="true">{MARKS[status] ?? '○'}</span> {spelledOut(content)}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
