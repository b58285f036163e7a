import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They look at the process that they run in, so only each other may have run there. */
const alone = [
  'src/adapters/process/**/*.test.ts',
  ...['mcp', 'builtin-tools', 'tool-registry', 'checking'].map((room) => `src/adapters/${room}/**/*.test.ts`),
  'src/shell-safety/**/*.test.ts',
  'src/workspace/**/*.test.ts',
  'test/torture/**/*.test.ts',
]

/**
 * `npm run heavy`, which `.ci/run` runs too: what costs as much as dozens of others, because it kills and starts servers again
 * and again, fills disks, plays a hundred MCP servers that misbehave, or gives readers what is made to be costly.
 */
const heavy = [
  'test/conformance/acp/embedded.test.ts',
  'test/conformance/fuzz/*.test.ts',
  ...['formats', 'killed', 'page/costly'].map((name) => `test/docs-search/${name}.test.ts`),
  ...['attached', 'kill', 'chaos/chaos'].map((name) => `test/kill/${name}.test.ts`),
  ...['hostile', 'kill', 'prefix'].map((name) => `test/model/${name}.test.ts`),
  // They take pages from a browser that keeps them and from a push service.
  ...['offline', 'push'].map((name) => `test/page/${name}.test.ts`),
  ...['call', 'http', 'http-newest', 'leaks', 'list', 'many-sessions', 'sizes', 'sse', 'stdio'].map(
    (name) => `test/torture/${name}.test.ts`,
  ),
  ...[
    'disk',
    'mcp-pause',
    'mcp-schemas',
    'relay-kill',
    'remote-tls',
    'secrets',
    'secrets-settings',
    'server-memory',
    'server-silent',
    'server-version',
    'stall',
    'status-watch',
  ].map((name) => `test/e2e/${name}.test.ts`),
  'test/eval/*.test.ts',
  // They install agents with npm and uv; build, pack and install the package, and compile against it.
  'test/agents/install.test.ts',
  'test/package/install.test.ts',
  // They need a database server, which not every machine has.
  'test/postgres/*.test.ts',
  'src/adapters/journal/sqlite/crash.test.ts',
  'src/adapters/mcp/oauth/two-processes.test.ts',
  // It waits until its process has no request to the disk, so no other file's may be there.
  'src/docs-search/index/collect/indexer.test.ts',
]

/** In a browser, which the files of a worker share. */
const page = 'test/page/*.test.ts'

/** Projects run one after another. The short files of `src` come last, so that no worker ends long before the other. */
const ORDER = ['page', 'alone', 'test', 'src', 'heavy']

/** As `npm run flaky` wants it. */
const isShuffled = process.argv.some((one) => one.startsWith('--sequence.shuffle'))

class ShortFilesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project }: TestSpecification): number => ORDER.indexOf(project.name)
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

const common = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // What another process does comes when it comes.
  expect: { poll: { interval: 10, timeout: 60_000 } },
  allowOnly: false,
  // Of tests that run beside each other in a file: enough for two cores while each waits for its processes.
  maxConcurrency: 4,
}

export default defineConfig({
  test: {
    globalSetup: ['test/build.setup.ts', 'test/directory.setup.ts'],
    // Real processes and disks on small machines: more than two files at a time only wait for each other.
    maxWorkers: 2,
    passWithNoTests: false,
    sequence: isShuffled ? {} : { sequencer: ShortFilesLast },
    // A module is transformed once for all projects, and again when it has changed.
    experimental: { fsModuleCache: true },
    projects: [
      // To start a process for each file costs as much as most of these files themselves.
      {
        test: { ...common, name: 'src', include: ['src/**/*.test.ts'], exclude: [...alone, ...heavy], isolate: false },
      },
      {
        test: {
          ...common,
          name: 'test',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...heavy, page],
          isolate: false,
        },
      },
      { test: { ...common, name: 'alone', include: alone, exclude: heavy, isolate: false } },
      {
        test: {
          ...common,
          name: 'page',
          include: [page],
          exclude: heavy,
          isolate: false,
          // Each look at a page costs a message through four processes.
          expect: { poll: { ...common.expect.poll, interval: 50 } },
        },
      },
      { test: { ...common, name: 'heavy', include: heavy } },
    ],
  },
})
