/** What a browser fetches and computes before the page shows itself, beside the web faces of others. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { createGzip } from 'node:zlib'
import type { PageStage } from '../../../test/page/stage.ts'
import { type Row, ms } from '../../row.ts'
import type { Face } from './other-faces.ts'

const GOAL_KIB = 70
const KINDS: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

interface Load {
  /** Of the document, scripts and style sheets, as they came over the wire. */
  readonly bytes: number
  readonly files: number
  readonly paintedMs: number
  readonly busyMs: number
}

export async function firstLoad(stage: PageStage, faces: readonly Face[]): Promise<readonly Row[]> {
  const ours = await loadOf(stage, stage.server.url)
  const rows = [row('the page', ours, GOAL_KIB)]
  for (const { name, directory } of faces) {
    if (directory === undefined) continue
    const server = await serve(directory)
    try {
      const { port } = server.address() as AddressInfo
      rows.push(row(name, await loadOf(stage, `http://127.0.0.1:${port}/`)))
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
  return rows
}

async function loadOf(stage: PageStage, url: string): Promise<Load> {
  const page = await stage.newDevice()
  try {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
    await page.goto(url, { waitUntil: 'load' })
    const { metrics } = await devtools.send('Performance.getMetrics')
    const busyMs = (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
    await page.waitForTimeout(1_000)
    const load = await page.evaluate(() => {
      const [document] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
      const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
      const first = resources.filter(
        ({ name, responseEnd }) => /\.(?:js|css)(?:\?|$)/u.test(name) && responseEnd <= (document?.loadEventStart ?? 0),
      )
      const bytes = first.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, document?.encodedBodySize ?? 0)
      const paintedMs = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN
      return { bytes, files: first.length, paintedMs }
    })
    return { ...load, busyMs }
  } finally {
    await page.context().close()
  }
}

/** As a server of such files does it: compressed, and the page for what is not there. */
async function serve(directory: string): Promise<Server> {
  const server = createServer(({ url = '/' }, response) => {
    const path = normalize(new URL(url, 'http://localhost').pathname)
    const file = join(directory, path)
    const found = existsSync(file) && statSync(file).isFile() ? file : join(directory, 'index.html')
    const type = KINDS[extname(found)] ?? 'application/octet-stream'
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' })
    createReadStream(found).pipe(createGzip()).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** Those of others have no goal. */
function row(name: string, { bytes, files, paintedMs, busyMs }: Load, goalKib?: number): Row {
  return {
    what: `first load of ${name}`,
    measured: `${(bytes / 1024).toFixed(1)} KiB in ${files} files`,
    goal: goalKib === undefined ? '–' : `≤ ${goalKib} KiB`,
    floor: `painted after ${ms(paintedMs)}, ${ms(busyMs)} of computing until loaded`,
    ok: goalKib === undefined || bytes <= goalKib * 1024,
  }
}
