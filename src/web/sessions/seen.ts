/** What the reader has seen counts on all devices: the end of a conversation that was in view for a moment. */
import { useEffect } from 'preact/hooks'
import { isVisible } from '../page/visible.ts'
import type { App } from './app.ts'
import type { OpenSession } from './open-session.ts'

const MOMENT_MS = 1_000

export function useSeen(app: App, { id }: OpenSession, isAtEnd: boolean): void {
  const row = app.listed.value?.find(({ sessionId }) => sessionId === id)
  const isNews = row?.unread === true && isAtEnd && isVisible.value
  useEffect(() => {
    if (!isNews) return undefined
    const timer = setTimeout(() => void app.seen(id), MOMENT_MS)
    return () => clearTimeout(timer)
  }, [isNews, row?.lastSeq, id])
}
