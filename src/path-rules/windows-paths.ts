/** Paths of Windows by their text: two slashes, no case, and several names for one file. Pure. */

/** The form that rules compare: `C:\Work\a` and `c:/work/a` are one path. */
export function comparable(path: string): string {
  return path.replaceAll('\\', '/').toLowerCase()
}

/** `c:/` of `C:\Work`; of a server its share. */
export function driveRootOf(path: string): string {
  return /^(?:[a-z]:\/|\/\/[^/]+\/[^/]+\/?)/u.exec(comparable(path))?.[0] ?? ''
}

const DEVICES = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)/iu

/**
 * Why Windows would take this name of a file for another one, and so lead around a rule: a stream of a file, an ending that it drops,
 * a device. Undefined for a name that means itself.
 */
export function ambiguityOf(name: string): string | undefined {
  if (name.includes(':')) return 'names a stream of a file'
  if (/[. ]$/u.test(name)) return 'ends in what Windows leaves out'
  if (DEVICES.test(name)) return 'names a device'
  return undefined
}
