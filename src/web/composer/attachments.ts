/** Files that go with a prompt: pictures made small enough, texts whole, and for all else a sentence. Loaded with the first file. */
import type { PromptContent } from '../../client/client.ts'
import { words } from '../i18n/language.ts'

export interface AttachedFile {
  readonly key: string
  readonly name: string
  readonly content: PromptContent
}

/** What the agent takes besides text. */
export interface Takes {
  readonly image: boolean
  readonly embeddedContext: boolean
}

export type Attached = AttachedFile | { readonly refusal: string }

const MAX_READ = 25 * 1024 * 1024
const MAX_IMAGE = 5 * 1024 * 1024
const MAX_TEXT = 256 * 1024
const MAX_SIDE = 2_000
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])
const QUALITY = 0.85

let made = 0

/** Nothing of a file that is refused by its kind or its size is read. */
export async function attach(file: File, takes: Takes): Promise<Attached> {
  const { name } = file
  const { attaching } = words()
  if (file.type.startsWith('image/')) {
    if (!PICTURES.has(file.type)) return { refusal: attaching.kind(name) }
    if (!takes.image) return { refusal: attaching.noImages(name) }
    if (file.size > MAX_READ) return { refusal: attaching.large(name, '25 MB') }
    return picture(file)
  }
  if (!takes.embeddedContext) return { refusal: attaching.noFiles(name) }
  if (file.size > MAX_TEXT) return { refusal: attaching.large(name, '256 KB') }
  const text = textOf(await file.arrayBuffer())
  if (text === undefined) return { refusal: attaching.kind(name) }
  // The address names it; nothing can be read there.
  const uri = `attachment:///${encodeURIComponent(name)}`
  return attachment(name, { type: 'resource', resource: { uri, text, mimeType: file.type || 'text/plain' } })
}

function attachment(name: string, content: PromptContent): AttachedFile {
  made += 1
  return { key: `a${made}`, name, content }
}

/** Undefined for what is no text. */
function textOf(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

async function picture(file: File): Promise<Attached> {
  const { attaching } = words()
  try {
    const bitmap = await createImageBitmap(file)
    const { width, height } = scaled(bitmap.width, bitmap.height)
    const isSmall = width === bitmap.width && file.size <= MAX_IMAGE
    const blob = isSmall ? file : await drawn(bitmap, { width, height })
    bitmap.close()
    if (blob.size > MAX_IMAGE) return { refusal: attaching.large(file.name, '5 MB') }
    return attachment(file.name, { type: 'image', mimeType: blob.type, data: await base64(blob) })
  } catch {
    return { refusal: attaching.broken(file.name) }
  }
}

/** At most 2,000 pixels a side. Pure. */
export function scaled(width: number, height: number): { readonly width: number; readonly height: number } {
  const by = Math.min(1, MAX_SIDE / Math.max(width, height))
  return { width: Math.max(1, Math.round(width * by)), height: Math.max(1, Math.round(height * by)) }
}

async function drawn(bitmap: ImageBitmap, size: { readonly width: number; readonly height: number }): Promise<Blob> {
  const canvas = new OffscreenCanvas(size.width, size.height)
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, size.width, size.height)
  const png = await canvas.convertToBlob({ type: 'image/png' })
  if (png.size <= MAX_IMAGE) return png
  return canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY })
}

async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x80_00) text += String.fromCharCode(...bytes.subarray(at, at + 0x80_00))
  return btoa(text)
}
