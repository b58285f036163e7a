/** The signals that ask a process to end: of a terminal, of a service manager, of a user. */

/**
 * Windows sends SIGINT for Ctrl-C, SIGBREAK for Ctrl-Break, and SIGHUP some seconds before it ends what ran in a window that was
 * closed. SIGTERM never arrives there: to send it is to kill.
 */
export function stopSignals(platform: NodeJS.Platform = process.platform): readonly NodeJS.Signals[] {
  return platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGTERM', 'SIGINT', 'SIGHUP']
}
