/** What a message carries besides text: bitmaps, files, links. Images of the network are links, and SVG is never drawn. */
import { useEffect, useState } from 'preact/hooks'
import type { Content } from '../../client/incoming/updates.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { safeLink } from '../markdown/links.ts'

const BITMAPS = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'])

export function Blocks({ content }: { readonly content: readonly Content[] }) {
  return <>{content.map((one, index) => (one.type === 'text' ? null : <Block key={index} content={one} />))}</>
}

export function Block({ content }: { readonly content: Content }) {
  const { type, mimeType, uri, name, title, resource } = content
  const data = (content as { readonly data?: unknown }).data
  if (type === 'image' && typeof data === 'string' && BITMAPS.has(mimeType ?? ''))
    return <Bitmap data={data} type={mimeType ?? ''} />
  const label = spelledOut(title ?? name ?? uri ?? resource?.uri ?? type)
  const link = uri === undefined ? undefined : safeLink(uri, label)
  return (
    <p class="attached">
      {link === undefined ? (
        label
      ) : (
        <>
          <a href={link.href} target="_blank" rel="noopener noreferrer nofollow">
            {label}
          </a>
          {link.host !== undefined && <span class="host"> ({link.host})</span>}
        </>
      )}
      {resource?.text !== undefined && <pre>{spelledOut(resource.text.slice(0, 2_000))}</pre>}
    </p>
  )
}

function Bitmap({ data, type }: { readonly data: string; readonly type: string }) {
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    try {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
      const made = URL.createObjectURL(new Blob([bytes], { type }))
      setAddress(made)
      return () => URL.revokeObjectURL(made)
    } catch {
      // It is no base64; there is nothing to be seen.
      return undefined
    }
  }, [data, type])
  return address === undefined ? null : <img class="bitmap" src={address} alt="" />
}
