/** Where the built worker threads are, whether we run from the bundle or from the sources. */

export function workerUrl(name: 'journal-worker' | 'docs-worker' | 'search-worker' | 'check-worker'): URL {
  const here = import.meta.url
  return new URL(here.includes('/src/server/') ? `../../../dist/${name}.cjs` : `../${name}.cjs`, here)
}
