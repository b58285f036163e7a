/** Gives HTML that a program made a line for each block, so that what is found in it stands on a line of its own. */

export function withLines(source: string): string {
  return source.replaceAll(/<\/(?:p|h[1-6]|li|tr|div|blockquote|pre)>/gi, '$&\n')
}
