/** Questions to a user besides permission: a form to fill in, a page to open. */

/** A question of a server to the user for whom it works. */
export type Elicitation =
  | {
      readonly mode: 'form'
      readonly server: string
      readonly message: string
      /** JSON Schema of a flat object. */
      readonly schema: Readonly<Record<string, unknown>>
    }
  | { readonly mode: 'url'; readonly server: string; readonly message: string; readonly url: string }

export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, ElicitedValue>> }
  | { readonly action: 'decline' | 'cancel' }

export type ElicitedValue = string | number | boolean | readonly string[]
