/** What people and tools showed, in the words of the packages: what a model cannot take is named instead. */
import type { LanguageModelV3FilePart, LanguageModelV3TextPart } from '@ai-sdk/provider'
import type { Content, EmbeddedResource, ResourceLink } from '../../../ports/content.ts'

/** What a model takes besides text. */
export interface Takes {
  readonly image: boolean
  readonly audio: boolean
  readonly pdf: boolean
}

export type Shown = LanguageModelV3TextPart | LanguageModelV3FilePart

export function shown(content: Content, takes: Takes): Shown {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text }
    case 'image':
      return takes.image ? picture(content, 'image') : leftOut('image', content.mimeType)
    case 'audio':
      return takes.audio && isCommonAudio(content.mimeType)
        ? file(content, 'audio')
        : leftOut('audio', content.mimeType)
    case 'resource_link':
      return { type: 'text', text: linkText(content) }
    case 'resource':
      return embedded(content, takes)
  }
}

/** Only text: what tools gave, for providers whose results take nothing else. */
export function textOf(content: readonly Content[], takes: Takes): string {
  const parts = content.map((one) => shown(one, takes))
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}: shown below]`)).join('\n')
}

function embedded({ resource }: EmbeddedResource, takes: Takes): Shown {
  if ('text' in resource)
    return { type: 'text', text: `<resource uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</resource>` }
  const mimeType = resource.mimeType ?? 'application/octet-stream'
  const data = { data: resource.blob, mimeType }
  if (mimeType.startsWith('image/') && takes.image) return picture(data, resource.uri)
  return mimeType === 'application/pdf' && takes.pdf ? file(data, resource.uri) : leftOut(resource.uri, mimeType)
}

interface Data {
  readonly data: string
  readonly mimeType: string
}

/** A provider refuses what it cannot show, and with it every later request of the conversation. */
function picture({ data, mimeType }: Data, what: string): Shown {
  const known = PICTURES[mimeType.toLowerCase()]
  return known === undefined ? leftOut(what, mimeType) : file({ data, mimeType: known }, what)
}

const PICTURES: Readonly<Record<string, string>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
}

function file({ data, mimeType }: Data, what: string): LanguageModelV3FilePart | LanguageModelV3TextPart {
  const bare = data.replaceAll(/\s+/gu, '')
  if (!/^[A-Za-z\d+/]+={0,2}$/u.test(bare)) return leftOut(what, mimeType, 'its data is not in base64')
  return { type: 'file', data: bare, mediaType: mimeType }
}

function leftOut(what: string, mimeType: string, why = 'this model cannot take it'): LanguageModelV3TextPart {
  return { type: 'text', text: `[${what} (${mimeType}) left out: ${why}]` }
}

function linkText({ uri, name, title, description }: ResourceLink): string {
  const about = description ? `: ${description}` : ''
  return `[${title ?? name}](${uri})${about}`
}

/** The formats that every provider with ears knows. */
function isCommonAudio(mimeType: string): boolean {
  return ['audio/wav', 'audio/mp3', 'audio/mpeg'].includes(mimeType)
}
