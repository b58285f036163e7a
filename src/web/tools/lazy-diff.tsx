/** A diff, once the part of the page that computes diffs is there. */
import { lazily } from '../page/lazily.tsx'

export const LazyDiff = lazily(async () => (await import('./diff-view.tsx')).DiffView)
