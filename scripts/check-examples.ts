/** Type-checks the TypeScript that the documents show, each block as a module of its own that may import the package. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles } from '../test/architecture/source.ts'
import { blocksOf } from '../test/docs/page.ts'

const root = new URL('..', import.meta.url).pathname
const folder = join(root, '.types/docs')

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'bench', 'examples'].flatMap((folder) => listFiles(root, folder, '.md')),
]
const examples = pages
  .flatMap((path) => blocksOf({ path, text: readFileSync(join(root, path), 'utf8') }))
  .filter(({ language }) => language === 'ts')
// One that is wrong shows that the compiler looks at them.
const texts = ['const five: number = "five"\n', ...examples.map(({ text }) => text)]

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const [index, text] of texts.entries()) writeFileSync(join(folder, `example-${index}.ts`), `${text}\nexport {}\n`)
const paths = {
  '@parley-sessions/parley': ['../../src/index.ts'],
  '@parley-sessions/parley/client': ['../../src/client.ts'],
}
const compilerOptions = { paths, noUnusedLocals: false }
const config = { extends: '../../tsconfig.test.json', compilerOptions, include: ['*.ts'] }
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { cwd: folder, encoding: 'utf8' })
const errors = stdout.match(/^\S.*/gmu) ?? []
const ofExamples = errors.filter((line) => !line.startsWith('example-0.ts'))
if (
  ofExamples.length > 0 ||
  !errors.some((line) => line.includes("Type 'string' is not assignable to type 'number'"))
) {
  for (const [index, { at }] of examples.entries()) console.log(`example-${index + 1}.ts is ${at}`)
  console.log(stdout)
  process.exitCode = 1
}
