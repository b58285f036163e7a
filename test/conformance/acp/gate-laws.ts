/** What an agent may send only to a client that has said that it takes it. */
import type { Fields } from '../../e2e/message.ts'
import { type Transcript, fieldsOf, listOf } from './record.ts'

export function gated(transcript: Transcript): readonly string[] {
  let can = transcript.offered
  return transcript.entries.flatMap(({ from, message }) => {
    if (from === 'client') {
      if (message.method === 'initialize') can = fieldsOf(message.params?.['clientCapabilities'])
      return []
    }
    const { method, params, result } = message
    const needed = [...(method === undefined ? [] : needs(method, fieldsOf(params))), ...booleans(fieldsOf(result))]
    return needed.filter((path) => !offers(can, path)).map((path) => `${method ?? 'a result'} without ${path}`)
  })
}

function needs(method: string, params: Fields): readonly string[] {
  if (method === 'fs/read_text_file') return ['fs.readTextFile']
  if (method === 'fs/write_text_file') return ['fs.writeTextFile']
  if (method.startsWith('terminal/')) return ['terminal']
  if (method === 'elicitation/create') return [`elicitation.${String(params['mode'])}`]
  if (method !== 'session/update') return []
  const update = fieldsOf(params['update'])
  const kind = String(update['sessionUpdate'])
  if (kind === 'notice') return ['session.notices']
  if (kind.startsWith('compaction')) return ['session.compaction']
  return booleans(update)
}

function booleans(told: Fields): readonly string[] {
  const some = listOf(told['configOptions']).some(({ type }) => type === 'boolean')
  return some ? ['session.configOptions.boolean'] : []
}

/** A flag is true, a marker is an object. */
function offers(can: Fields, path: string): boolean {
  let at: unknown = can
  for (const key of path.split('.')) at = fieldsOf(at)[key]
  return at === true || (typeof at === 'object' && at !== null)
}
