/** Completes the variables of document URI templates by their first characters. */
import {
  type CompleteRequestParams,
  type CompleteResult,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { fail } from '../../errors/parley-error.ts'
import type { CollectionView } from '../collections/view.ts'

const DOCUMENT = 'doc://{collection}/{+path}'
const SECTION = 'doc://{collection}/{+path}{#section}'

export const TEMPLATES: readonly ResourceTemplateType[] = [
  {
    uriTemplate: DOCUMENT,
    name: 'document',
    title: 'Document',
    description: 'A document by its collection and its path in it.',
  },
  {
    uriTemplate: SECTION,
    name: 'section',
    title: 'Section of a document',
    description: 'A section by the short name of its heading, as outline gives it; or #L12 for what begins on a line.',
  },
]

const MAX_VALUES = 100

interface Values {
  readonly values: readonly string[]
  readonly total: number
}

export async function completed(view: CollectionView, params: CompleteRequestParams): Promise<CompleteResult> {
  const { ref, argument, context } = params
  if (ref.type !== 'ref/resource' || ![DOCUMENT, SECTION].includes(ref.uri)) {
    return fail('PARAMS_INVALID', { method: 'completion/complete', reason: 'complete one of the resource templates' })
  }
  const chosen = context?.arguments ?? {}
  const { values, total } = await valuesFor(view, argument, chosen)
  const shown = values.slice(0, MAX_VALUES)
  return { completion: { values: [...shown], total, hasMore: total > shown.length } }
}

type Chosen = Readonly<Record<string, string>>

async function valuesFor(
  view: CollectionView,
  { name, value }: CompleteRequestParams['argument'],
  chosen: Chosen,
): Promise<Values> {
  const { collection } = chosen
  const open = view.present().filter((one) => collection === undefined || one === collection)
  if (name === 'collection') return beginning(view.present(), value)
  if (open.length === 0) return { values: [], total: 0 }
  if (name === 'path') {
    const { documents, total } = await view.index.list({ collections: open, prefix: value, limit: MAX_VALUES })
    return { values: documents.map(({ file }) => file), total }
  }
  if (name === 'section') return sections(view, value, chosen)
  return fail('PARAMS_INVALID', {
    method: 'completion/complete',
    reason: 'the arguments of the templates are collection, path and section',
  })
}

async function sections(view: CollectionView, value: string, { collection, path }: Chosen): Promise<Values> {
  if (collection === undefined || path === undefined) return { values: [], total: 0 }
  const segments = [collection, ...path.split('/')].map(encodeURIComponent)
  const { headings } = await view.index.outline({ uri: `doc://${segments.join('/')}`, collections: view.all() })
  return beginning(
    headings.map(({ uri }) => decodeURIComponent(uri.split('#', 2)[1] ?? '')),
    value,
  )
}

function beginning(values: readonly string[], prefix: string): Values {
  const found = values.filter((value) => value.startsWith(prefix))
  return { values: found, total: found.length }
}
