/** A screen that is loaded when it is first shown. */
import { type ComponentType, h } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const [View, setView] = useState<ComponentType<Props> | undefined>(() => loaded)
    useEffect(() => {
      if (loaded !== undefined) return
      void load().then((view) => {
        loaded = view
        setView(() => view)
      })
    }, [])
    return View === undefined ? null : h(View, props)
  }
}
