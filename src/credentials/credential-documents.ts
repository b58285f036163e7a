/** Where credentials are kept: each kind is one document, a file of a state directory or a part of what the nodes of a cluster share. */
import { fail } from '../errors/parley-error.ts'
import { CredentialFile, type Form } from './credential-file.ts'

/** It is changed whole or not at all. */
export interface CredentialDocument<Content> {
  /** Throws TOKENS_UNUSABLE. */
  read(): Content
  /** What `change` throws leaves it as it is. Throws TOKENS_UNUSABLE and TOKENS_UNCHANGED. */
  change<Result>(change: (content: Content) => { readonly content: Content; readonly result: Result }): Result
  /** For a change that nothing needs: it is left out while another process changes the document. */
  changeIfFree(change: (content: Content) => Content): void
}

export interface CredentialDocuments {
  document<Content>(name: string, form: Form<Content>): CredentialDocument<Content>
}

/** A state directory, or what is used instead of one. */
export type CredentialPlace = string | CredentialDocuments

export function documentIn<Content>(
  place: CredentialPlace,
  name: string,
  form: Form<Content>,
): CredentialDocument<Content> {
  return typeof place === 'string' ? new CredentialFile(place, `${name}.json`, form) : place.document(name, form)
}

/** By the names of the documents. */
export type DocumentContents = Readonly<Record<string, unknown>>

/** In memory: what is changed can be stored afterwards. */
export class MemoryDocuments implements CredentialDocuments {
  /** The same object until something changes. */
  contents: DocumentContents

  constructor(contents: DocumentContents) {
    this.contents = contents
  }

  document<Content>(name: string, form: Form<Content>): CredentialDocument<Content> {
    const read = (): Content => {
      const content = this.contents[name] ?? form.empty
      const reason = 'it does not have the form that Parley wrote'
      return form.isContent(content) ? content : fail('TOKENS_UNUSABLE', { path: `${name} of the cluster`, reason })
    }
    const write = (content: Content): void => void (this.contents = { ...this.contents, [name]: content })
    return {
      read,
      change(change) {
        const { content, result } = change(read())
        write(content)
        return result
      },
      changeIfFree: (change) => write(change(read())),
    }
  }
}
