/** Where the built worker threads are, whether we run from the bundle or from the sources. */

export function workerUrl(name: 'journal-worker' | 'docs-worker' | 'search-worker' | 'check-worker'): URL {
  const here = import.meta.url
  if (here.includes('/src/server/')) return new URL(`../../dist/${name}.mjs`, here)
  return new URL(here.includes('/chunks/') ? `../${name}.mjs` : `./${name}.mjs`, here)
}
