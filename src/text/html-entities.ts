/** Character references of HTML, as far as pages of text use them. */

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['copy', '©'],
  ['reg', '®'],
  ['trade', '™'],
  ['hellip', '…'],
  ['mdash', '—'],
  ['ndash', '–'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['laquo', '«'],
  ['raquo', '»'],
  ['middot', '·'],
  ['bull', '•'],
  ['times', '×'],
  ['rarr', '→'],
  ['larr', '←'],
  ['auml', 'ä'],
  ['ouml', 'ö'],
  ['uuml', 'ü'],
  ['Auml', 'Ä'],
  ['Ouml', 'Ö'],
  ['Uuml', 'Ü'],
  ['szlig', 'ß'],
  ['eacute', 'é'],
  ['egrave', 'è'],
  ['euro', '€'],
  ['sect', '§'],
  ['para', '¶'],
  ['deg', '°'],
])

/** What is no reference, or none that is known, stays as it is. */
export function unescaped(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,10});/gu, (whole, reference: string) => {
    if (!reference.startsWith('#')) return NAMED.get(reference) ?? whole
    const code = Number(reference.replace('#', '').replace(/^[xX]/u, '0x'))
    return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : whole
  })
}
