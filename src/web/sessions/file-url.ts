/** The address of a file for a prompt that mentions it. */

/** Of a path of the server, which may run on Windows: `C:\a b` is `file:///C:/a%20b`, and `\\host\a` is `file://host/a`. */
export function fileUrl(path: string): string {
  const [, share, drive] = /^(?:(\\\\)|([A-Za-z]:)[\\/])/u.exec(path) ?? []
  if (share === undefined && drive === undefined) return `file://${encodedPath(path)}`
  const rest = path.slice(2).replaceAll('\\', '/')
  return share === undefined ? `file:///${drive}${encodedPath(rest)}` : `file://${encodedPath(rest)}`
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
