/** What a client offers to serve, as it says in `initialize`: exactly that, and nothing that it only hints at. */

export interface ClientServices {
  readonly readTextFile: boolean
  readonly writeTextFile: boolean
  readonly terminal: boolean
  readonly form: boolean
  readonly url: boolean
}

export function parseClientServices(params: unknown): ClientServices {
  const { fs, terminal, elicitation } = fieldsOf(fieldsOf(params)['clientCapabilities'])
  const { readTextFile, writeTextFile } = fieldsOf(fs)
  // An empty `elicitation` names no mode, and so offers none.
  const { form, url } = fieldsOf(elicitation)
  return {
    readTextFile: readTextFile === true,
    writeTextFile: writeTextFile === true,
    terminal: terminal === true,
    form: isFields(form),
    url: isFields(url),
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isFields(value) ? value : {}
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
