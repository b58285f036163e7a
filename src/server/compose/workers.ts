/** Where the built worker threads are, whether we run from the bundle or from the sources. */

type WorkerName = 'journal-worker' | 'docs-worker' | 'search-worker' | 'cluster-reader' | 'check-worker'

export function workerUrl(name: WorkerName): URL {
  const here = import.meta.url
  return new URL(here.includes('/src/server/') ? `../../../dist/${name}.cjs` : `../${name}.cjs`, here)
}
