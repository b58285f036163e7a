/** Recognizes command lines with effects that a user does not expect of an MCP server. */

/** The danger, for the sentence that warns the user; undefined when none is recognized, which proves nothing. */
export function dangerOf(command: string, args: readonly string[]): string | undefined {
  const name = command.split('/').at(-1) ?? command
  const words = [name, ...args].join(' ')
  return DANGERS.find(({ in: pattern }) => pattern.test(words))?.says
}

const DANGERS: readonly { readonly in: RegExp; readonly says: string }[] = [
  { in: /(^|[\s;&|(])(sudo|doas|pkexec|su|runuser)(\s|$)/u, says: 'it runs with the rights of another user' },
  { in: /(^|[\s;&|(])rm\s+(-\w+\s+|--\S+\s+)*(-\w*[rf]|--recursive|--force)/u, says: 'it deletes files' },
  { in: /(^|[\s;&|(])(mkfs(\.\w+)?|dd|shred|wipefs)(\s|$)/u, says: 'it can overwrite disks' },
  { in: /(curl|wget)\b[^;&]*\|\s*(\S*\/)?(ba|z|da)?sh\b/u, says: 'it runs what it downloads' },
  { in: /(^|[\s=:"'/])\.(ssh|gnupg|aws|kube)(\/|\s|$)/u, says: 'it names a directory of keys' },
  { in: /(^|[\s=:"'])\/etc\/(shadow|sudoers)/u, says: 'it names a file of the system’s secrets' },
  { in: /--privileged\b|\/var\/run\/docker\.sock/u, says: 'it can leave its container' },
]
