/**
 * Runs the program behind an npm script; a first word that names one of the script's variants picks that one instead:
 * `npm run kill -- --runs 20`, `npm run kill -- model --runs 20`.
 */
const suites: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  docs: { '': 'scripts/docs.ts', recording: 'scripts/recording/main.ts' },
  kill: {
    '': 'test/kill/main.ts',
    model: 'test/model/kill-main.ts',
    docs: 'test/docs-search/kill-main.ts',
    failover: 'test/kill/failover/main.ts',
    page: 'test/page/kill-main.ts',
    mcp: 'test/torture/main.ts',
    agents: 'test/agents/mutants-main.ts',
  },
  conformance: {
    '': 'test/conformance/acp/main.ts',
    mcp: 'test/conformance/mcp/run.ts',
    docs: 'test/docs-search/conformance/main.ts',
    'mcp-servers': 'test/torture/real-servers.ts',
    fuzz: 'test/conformance/fuzz/main.ts',
    page: 'test/page/hostile-main.ts',
    relay: 'test/conformance/relay/main.ts',
    agents: 'test/agents/real/main.ts',
    together: 'test/agents/real/together.ts',
  },
  bench: {
    '': 'bench/main.ts',
    agents: 'bench/agents/main.ts',
    cluster: 'bench/cluster/main.ts',
    docs: 'bench/docs/main.ts',
    stall: 'test/stall/main.ts',
  },
  eval: {
    '': 'test/eval/main.ts',
    search: 'test/docs-search/judged/main.ts',
    page: 'test/docs-search/page/look-main.ts',
  },
}

const [script = '', variant = ''] = process.argv.slice(2)
const variants = suites[script] ?? {}
const isNamed = variant !== '' && variants[variant] !== undefined
const file = variants[isNamed ? variant : '']
if (file === undefined) throw new Error(`no script ${script}; there are ${Object.keys(suites).join(', ')}`)
// The program reads its own arguments as if it had been started by itself.
process.argv.splice(2, isNamed ? 2 : 1)
await import(new URL(`../${file}`, import.meta.url).href)
