/** What the system tells about processes: Linux in /proc, macOS through ps(1), Windows nothing that Parley reads. */
export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  /** The process group. */
  readonly group: number
  /** False for one that has ended and that its parent has not collected. */
  readonly isRunning: boolean
  readonly cpuMs: number
  readonly residentBytes: number
  /** The name of its program. */
  readonly command: string
}

export interface MarkedProcess {
  readonly pid: number
  /** The value of `MARKER` in its environment. */
  readonly marker: string
}

export interface ProcessTable {
  /** Undefined where the system does not tell. */
  rows(): Promise<readonly ProcessRow[] | undefined>
  /** The processes whose environment can be read and has a marker; none where the system does not tell. */
  marked(): Promise<readonly MarkedProcess[]>
}
