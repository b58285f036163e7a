/** Line icons; each stands beside a word or under a name, and is hidden from screen readers. */

const PATHS = {
  plus: 'M8 3v10M3 8h10',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14',
  back: 'M10 3 5 8l5 5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  clip: 'M12.5 7.5 7.8 12.2a3 3 0 0 1-4.3-4.3l5-5a2 2 0 0 1 2.9 2.9l-5 5a1 1 0 0 1-1.5-1.4l4.5-4.5',
  copy: 'M6 5h7v8.5H6zM10 5V2.5H3V11h3',
  check: 'M3 8.5 6.5 12 13 4.5',
  stop: 'M4.5 4.5h7v7h-7z',
  send: 'M8 13V3.5M3.5 8 8 3.5 12.5 8',
  up: 'M8 12.5V3M3.5 7.5 8 3l4.5 4.5',
  down: 'M8 3v9.5M3.5 8 8 12.5 12.5 8',
  open: 'M4 6l4 4 4-4',
  shut: 'M6 4l4 4-4 4',
  close: 'M4 4l8 8M12 4l-8 8',
  read: 'M3 3.5h4l1 1 1-1h4V12H9l-1 1-1-1H3zM8 4.5V13',
  edit: 'M3 13l.7-2.8L10.5 3.4a1.3 1.3 0 0 1 2 2L5.8 12.3z',
  execute: 'M2.5 4l4 4-4 4M8 12.5h5.5',
  think: 'M8 2.5a4 4 0 0 0-2.3 7.3v1.7h4.6V9.8A4 4 0 0 0 8 2.5zM6.5 13.5h3',
  fetch: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM2.5 8h11M8 2.5c2 2 2 9 0 11M8 2.5c-2 2-2 9 0 11',
  tool: 'M9.5 2.8a3.5 3.5 0 0 0-2.3 5L2.8 12.2l1.5 1.5 4.4-4.4a3.5 3.5 0 0 0 4.6-4.3L11.2 7 9 6.8 8.8 4.8l1.9-1.9a3.5 3.5 0 0 0-1.2-.1z',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 9h5.8l.6-9M7 7v4M9 7v4',
  move: 'M3 8h9.5M9 4.5 12.5 8 9 11.5',
  bell: 'M3.5 11.5h9L11 9.5V7a3 3 0 0 0-6 0v2.5zM6.8 13.5h2.4',
  bellOn: 'M3.5 11.5h9L11 9.5V7a3 3 0 0 0-6 0v2.5zM6.8 13.5h2.4M2.5 5.5 4 3M13.5 5.5 12 3',
  list: 'M6 4h7.5M6 8h7.5M6 12h7.5M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  fork: 'M5 3v4a2 2 0 0 0 2 2h4M5 13V3M9 6.5 11.5 9 9 11.5',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3.2l2.2 1.3',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

const KINDS: Readonly<Record<string, IconName>> = {
  read: 'read',
  edit: 'edit',
  delete: 'trash',
  move: 'move',
  search: 'search',
  execute: 'execute',
  think: 'think',
  fetch: 'fetch',
}

export function kindIcon(kind: string): IconName {
  return Object.hasOwn(KINDS, kind) ? (KINDS[kind] ?? 'tool') : 'tool'
}
