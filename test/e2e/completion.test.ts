/** Tab in a shell: the scripts that `parley completion` prints, run by the shells that are here, and what may come next. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { manPage } from '../../scripts/man-page.ts'
import { chat, commands } from '../../src/cli/command-table.ts'
import { completionsFor } from '../../src/cli/commands/completion/candidates.ts'
import { endServers, parley, shareServer } from './cli.ts'
import { binary, freshDirectory } from './parley.ts'

endServers()
const lodging = shareServer()
const table = { commands, chat }
const valuesAfter = (...words: readonly string[]) => completionsFor(words, table).candidates.map(({ value }) => value)
const kindAfter = (...words: readonly string[]) => completionsFor(words, table).kind

describe('what may come next', () => {
  test('is the name of a command, then that of one of its own', () => {
    expect(valuesAfter('')).toEqual(commands.map(({ usage }) => usage.split(' ', 1)[0]))
    expect(valuesAfter('docs', 'key', '')).toEqual(['add', 'ls', 'rm'])
  })

  test('is an option of this command, and none that only Parley passes', () => {
    expect(valuesAfter('stop', '-')).toEqual(['--grace'])
    expect(valuesAfter('serve', '--')).not.toContain('--background')
  })

  test.each([
    [['show', ''], 'session'],
    [['rm', 'one', ''], 'session'],
    [['run', '--session', ''], 'session'],
    [['--session', ''], 'session'],
    [['run', '--agent', ''], 'agent'],
    [['agents', 'test', ''], 'agent'],
    [['run', '--model', ''], 'model'],
    [['run', '--cwd', ''], undefined],
    [['import', ''], undefined],
    [['run', '--cwd', 'stop', ''], undefined],
  ])('after %j is a value of the kind %s', (words, kind) => {
    expect(kindAfter(...words)).toBe(kind)
  })
})

test('the ids of sessions are there with their titles', async () => {
  const place = await lodging({ chunk: 'Hello.' })
  const { stdout } = await parley(['new', '--json'], place)
  const { sessionId } = JSON.parse(stdout) as { readonly sessionId: string }
  const words = await parley(['completion', '--words', '--', 'show', sessionId.slice(0, 4)], place)
  expect(words).toMatchObject({ code: 0, stderr: '' })
  expect(words.stdout.split('\t')[0]).toBe(sessionId)
})

test('agents are there, and a broken settings file prints nothing at whoever presses Tab', async () => {
  const home = freshDirectory()
  const agents = await parley(['completion', '--words', '--', 'run', '--agent', 'g'], { home })
  expect(agents.stdout).toMatch(/^guide\t/mu)
  mkdirSync(join(home, 'config/parley'), { recursive: true })
  writeFileSync(join(home, 'config/parley/parley.toml'), 'this is no TOML')
  const broken = await parley(['completion', '--words', '--', 'show', ''], { home })
  expect(broken).toMatchObject({ code: 0, stdout: '' })
})

test('a shell that is not known is named with those that are', async () => {
  const { code, stderr } = await parley(['completion', 'tcsh'], { home: freshDirectory() })
  expect(code).toBe(2)
  expect(stderr).toContain('bash, zsh, fish')
})

/** `parley` on the PATH of the shell, with a state directory of its own. */
function shellPlace() {
  const home = freshDirectory()
  const bin = join(home, 'bin')
  mkdirSync(bin)
  // Models are asked of their servers, of which none runs here.
  const models = `case "$*" in *--model*) printf 'local:small\\tOllama\\n'; exit;; esac`
  writeFileSync(join(bin, 'parley'), `#!/bin/sh\n${models}\nexec '${process.execPath}' '${binary}' "$@"\n`)
  chmodSync(join(bin, 'parley'), 0o755)
  return { ...process.env, PATH: `${bin}:${process.env['PATH']}`, PARLEY_HOME: home }
}

/** Runs `script` in a shell that has the completion; a shell that is missing is named with how to get it. */
function inShell(shell: string, args: readonly string[], script: string): readonly string[] {
  const { error, stdout, stderr } = spawnSync(shell, [...args, '-c', script], { env: shellPlace(), encoding: 'utf8' })
  if (error !== undefined) throw new Error(`${shell} is needed: apt-get install zsh fish`, { cause: error })
  expect(stderr).toBe('')
  return stdout.trim().split('\n')
}

test('bash completes commands, options, and a model behind the colon of its provider', () => {
  const pressed = (line: string) =>
    `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _parley; printf '%s\\n' "\${COMPREPLY[@]}"; `
  const script = `eval "$(parley completion bash)"; ${['parley st', 'parley stop --', 'parley run --model local:s'].map(pressed).join('')}`
  expect(inShell('bash', ['--norc'], script)).toEqual(['status', 'stop', '--grace', 'small'])
})

test('fish completes them too, and files only where Parley knows nothing', () => {
  const pressed = (line: string) => `complete --do-complete '${line}'; `
  const lines = ['parley do', 'parley stop --', 'parley run --model local:s', 'parley run --cwd test/k']
  const script = `parley completion fish | source; ${lines.map(pressed).join('')}`
  const said = inShell('fish', ['--no-config'], script)
  expect(said.map((line) => line.split('\t')[0])).toEqual(['doctor', 'docs', '--grace', 'local:small', 'test/kill/'])
})

test('zsh gets the same words with their descriptions', () => {
  const pressed = (line: string) => `words=(${line}); CURRENT=\${#words}; _parley; `
  const lines = ['parley st', 'parley stop --', 'parley run --model local:s', 'parley run --cwd test/k']
  // What the completion system of an interactive zsh brings along.
  const stubs = `compdef() { :; }; _describe() { print -rl -- "\${(@P)3}"; }; _files() { print files; }; `
  const script = `${stubs} eval "$(parley completion zsh)"; ${lines.map(pressed).join('')}`
  const said = inShell('zsh', ['-f'], script)
  const words = said.map((line) => /^(?:\\.|[^:])*/u.exec(line)?.[0])
  expect(words).toEqual(['status', 'stop', '--grace', 'local\\:small', 'files'])
})

test('the manual has every command and option, and roff has nothing to say against it', () => {
  const page = manPage('1.2.3')
  for (const { usage } of commands) expect(page).toContain(`.SS parley ${usage.replaceAll('-', '\\-')}`)
  expect(page).toContain('.B \\-\\-cwd <dir>')
  expect(page).not.toContain('\\-\\-background')
  const { error, stderr } = spawnSync('groff', ['-man', '-ww', '-z'], { input: page, encoding: 'utf8' })
  // Not every machine has it.
  if (error === undefined) expect(stderr).toBe('')
})
