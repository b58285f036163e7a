/** A screen that is loaded when it is first shown. */
import { type ComponentType, h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'

export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const [View, setView] = useState<ComponentType<Props> | undefined>(() => loaded)
    const [hasFailed, setFailed] = useState(false)
    useEffect(() => {
      if (loaded !== undefined || hasFailed) return undefined
      let isShown = true
      load().then(
        (view) => {
          loaded = view
          if (isShown) setView(() => view)
        },
        () => isShown && setFailed(true),
      )
      return () => {
        isShown = false
      }
    }, [hasFailed])
    if (View !== undefined) return h(View, props)
    return hasFailed ? <NotLoaded again={() => setFailed(false)} /> : null
  }
}

/** The server is away, or it was upgraded and has other files now. */
function NotLoaded({ again }: { readonly again: () => void }) {
  const { notLoaded, tryAgain, reload } = words()
  return (
    <div class="not-loaded" role="alert">
      <p>{notLoaded}</p>
      <p class="ways">
        <button type="button" onClick={again}>
          {tryAgain}
        </button>
        <button type="button" class="second" onClick={() => location.reload()}>
          {reload}
        </button>
      </p>
    </div>
  )
}
