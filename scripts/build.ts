/** `npm run build`, and the end of `npm ci`: makes the bundles and the published types, and prints only what is wrong. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'rolldown'
import config from '../rolldown.config.ts'
import { buildPage } from './build-page.ts'
import { emitDeclarations } from './declarations.ts'
import { writeManPage } from './man-page.ts'
import pkg from '../package.json' with { type: 'json' }

// The command line of rolldown lists each of two hundred chunks; its library tells warnings alone. One after the other, for
// the first empties the directory.
for (const options of config) await build(options as BuildOptions)
emitDeclarations(fileURLToPath(new URL('../dist/types', import.meta.url)))
await buildPage(fileURLToPath(new URL('../dist/web', import.meta.url)))
writeManPage(fileURLToPath(new URL('../man/parley.1', import.meta.url)), pkg.version)
// A program of this clone that ends meanwhile may write there.
rmSync(new URL('../cache', import.meta.url), { recursive: true, force: true, maxRetries: 5 })
execFileSync(process.execPath, [fileURLToPath(new URL('../bin/make-code-cache.mjs', import.meta.url))])
