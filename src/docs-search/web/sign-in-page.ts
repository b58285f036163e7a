/** The page where a user signs in with a key. */
import { html } from './parts/html.ts'
import { htmlPageOf } from './parts/layout.ts'

export interface SignIn {
  /** The page to show afterwards. */
  readonly to: string
  /** Why the last attempt failed. */
  readonly wrong?: string
}

export function signInPage({ to, wrong }: SignIn): string {
  const error = wrong === undefined ? null : html`<p class="error" role="alert">${wrong}</p>`
  const invalid = wrong === undefined ? null : html` aria-invalid="true"`
  const content = html`<div class="sign-in">
    <h1>Sign in to the documents</h1>
    ${error}
    <form action="/sign-in" method="post">
      <label for="parley-key">Key</label>
      <div class="box">
        <input
          type="password"
          id="parley-key"
          name="key"
          required
          autocomplete="current-password"
          spellcheck="false"
          autocapitalize="off"
          aria-describedby="parley-key-help"
          autofocus${invalid}
        />
        <input type="hidden" name="to" value="${to}" /><button>Sign in</button>
      </div>
    </form>
    <p class="soft" id="parley-key-help">
      It is the key that MCP clients use too. The operator of this server makes one with
      <code>parley docs key add NAME</code>; where the main key is, <code>parley docs</code> says when it starts.
    </p>
  </div>`
  return htmlPageOf({ title: 'Sign in', reader: null, content })
}
