/** The table of processes of this system; that of another one is not loaded. */
import { linuxTable } from './linux-table.ts'
import type { ProcessTable } from './process-table.ts'

export async function processTable(platform: NodeJS.Platform = process.platform): Promise<ProcessTable> {
  return platform === 'darwin' ? (await import('./macos-table.ts')).macosTable() : linuxTable
}
