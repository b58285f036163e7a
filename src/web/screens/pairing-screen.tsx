/** A device that the server does not know: what to type where, and a field for the code of a link. */
import { useEffect, useState } from 'preact/hooks'
import { pair } from '../connection/pairing.ts'
import { words } from '../i18n/language.ts'

export function PairingScreen({ code, paired }: { readonly code: string; readonly paired: () => void }) {
  const [text, setText] = useState(code)
  const [isPairing, setPairing] = useState(code !== '')
  const [trouble, setTrouble] = useState('')
  const offer = async (): Promise<void> => {
    setPairing(true)
    setTrouble('')
    const refusal = await pair(text.trim())
    setPairing(false)
    if (refusal === undefined) return paired()
    const { pairFailed, pairWrong, pairNoCookie } = words()
    const sentences = new Map([
      ['not known', pairWrong],
      ['not valid', pairFailed],
      ['no cookie', pairNoCookie],
    ])
    setTrouble(sentences.get(refusal) ?? refusal)
  }
  useEffect(() => {
    if (code !== '') void offer()
  }, [])
  const { pairTitle, pairWhy, pairHow, pairCode, pairButton, pairing } = words()
  return (
    <main class="pairing" id="main" tabIndex={-1}>
      <img src="icon.svg" alt="" width="48" height="48" />
      <h1>{pairTitle}</h1>
      <p>{pairWhy}</p>
      <p>{pairHow}</p>
      <pre>
        <code>parley web</code>
      </pre>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void offer()
        }}
      >
        <label for="code">{pairCode}</label>
        <input
          id="code"
          autocomplete="one-time-code"
          autocapitalize="off"
          spellcheck={false}
          value={text}
          aria-invalid={trouble !== ''}
          aria-describedby={trouble === '' ? undefined : 'code-trouble'}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {trouble !== '' && (
          <p class="trouble" id="code-trouble" role="alert">
            {trouble}
          </p>
        )}
        <button type="submit" disabled={isPairing || text.trim() === ''}>
          {isPairing ? pairing : pairButton}
        </button>
      </form>
    </main>
  )
}
