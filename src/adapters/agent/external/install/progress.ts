/** What a user hears while an agent is installed. */
export type InstallProgress =
  | { readonly step: 'resolve'; readonly what: string }
  | { readonly step: 'download'; readonly bytes: number; readonly total?: number }
  | { readonly step: 'npm'; readonly what: string; readonly megabytes?: number }
  | { readonly step: 'unpack' }
  | { readonly step: 'probe' }

export type Tell = (progress: InstallProgress) => void
