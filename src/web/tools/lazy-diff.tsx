/** A diff, once the part of the page that computes diffs is there. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { DiffProps } from './diff-view.tsx'

let loaded: ComponentType<DiffProps> | undefined

export function LazyDiff(props: DiffProps) {
  const [View, setView] = useState<ComponentType<DiffProps> | undefined>(() => loaded)
  useEffect(() => {
    if (loaded !== undefined) return
    void import('./diff-view.tsx').then(({ DiffView }) => {
      loaded = DiffView
      setView(() => DiffView)
    })
  }, [])
  return View === undefined ? <p class="soft">{props.path}</p> : <View {...props} />
}
