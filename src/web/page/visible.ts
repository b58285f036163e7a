/** Whether the page is visible: in front, and not behind another tab. */
import { signal } from '@preact/signals'

export const isVisible = signal(document.visibilityState === 'visible')

document.addEventListener('visibilitychange', () => (isVisible.value = document.visibilityState === 'visible'))
