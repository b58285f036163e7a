/**
 * The command lines that require approval each time because they may destroy data; they are listed in
 * `test/fixtures/commands`.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { approvalPrefix } from './approval-prefix.ts'
import { assessCommandLine } from './assess-command.ts'

function destroys(line: string): boolean {
  return assessCommandLine(line).effect === 'destroys'
}

describe('a destructive command', () => {
  test('is recognised, however it is written', () => {
    const lines = linesOf('destroy.txt')
    expect(lines.length).toBeGreaterThan(500)
    expect(lines.filter((line) => !destroys(line))).toEqual([])
  })

  test('is recognised behind any wrapper', () => {
    const missed = linesOf('destroy.txt').flatMap((line) => behindOthers(line).filter((one) => !destroys(one)))
    expect(missed).toEqual([])
  })

  test('is not reported for harmless commands', () => {
    const lines = linesOf('harmless.txt')
    expect(lines.length).toBeGreaterThan(400)
    expect(lines.filter((line) => destroys(line))).toEqual([])
  })

  test('is recognised in bounded time for any line, and assumed in doubt', () => {
    for (const line of [
      '('.repeat(50_000),
      '"'.repeat(50_001),
      '$('.repeat(3_900),
      '`'.repeat(7_999),
      'sudo '.repeat(2_000),
      'sh -c '.repeat(500),
      'env -Z '.repeat(1_000),
      'xargs -z '.repeat(800),
      "'".repeat(7_999),
      'a(){a|'.repeat(1_300),
      '<<a '.repeat(1_900),
      `git${' push'.repeat(1_500)}`,
    ])
      expect(typeof destroys(line)).toBe('boolean')
    expect(destroys(`${'echo "$('.repeat(60)}ls${')"'.repeat(60)}`)).toBe(true)
    expect(destroys(`echo ${'a'.repeat(9_000)}`)).toBe(true)
  })

  test('is recognised with any Unicode character, quoted or not', () => {
    const all = Array.from({ length: 0x11_00_00 }, (_, code) => String.fromCodePoint(code))
    for (let at = 0; at < all.length; at += 500) {
      const letters = all.slice(at, at + 500)
      expect(typeof destroys(`echo ${letters.join('a')} "${letters.join('')}"`)).toBe('boolean')
    }
  })

  test('has an approval prefix in bounded time for any line', () => {
    for (const line of [`${'a'.repeat(99_999)};`, `${'"a" '.repeat(25_000)}'`]) expect(approvalPrefix(line)).toBe(line)
  })
})

describe('a command that only reads', () => {
  const effects = (lines: readonly string[]) => lines.map((line) => `${line}: ${assessCommandLine(line).effect}`)

  test.each<readonly [what: string, ...lines: readonly string[]]>([
    ['alone', 'ls -la', 'rg -n x src', 'sed -n 1,20p a.txt', 'find . -name "*.ts" -type f'],
    ['with a variable or a substitution', 'LC_ALL=C sort a', 'echo $(pwd)'],
    ['with others', 'cat a.txt | head -5 && wc -l < b', 'cd src; grep -rn "x > y" . 2>/dev/null | sort -u | uniq -c'],
    ['of git', 'git log --oneline -5', 'git --no-pager diff --stat HEAD~1 -- src', 'git branch -a'],
    ['of the settings of git', 'git config --get user.name'],
    ['in a block', 'if [ -f a ]; then cat a; fi', 'for f in a b; do wc -l "$f"; done'],
  ])('%s', (_what, ...lines) => expect(effects(lines)).toEqual(lines.map((line) => `${line}: reads`)))

  test.each<readonly [what: string, ...lines: readonly string[]]>([
    ['a program that may write', 'npm test', './ls', '/tmp/cat a', 'cp a b', 'echo a >> b', 'awk 1 a', 'date -s x'],
    ['one inside of it', 'echo $(make)', 'cat <(make)', 'ls & make', 'f() { make; }; ls'],
    ['one that it runs', 'xargs ls', 'find . -exec ls {} +', 'git diff --ext-diff', 'rg --pre ./x y'],
    ['a variable that says which', 'PATH=. ls', 'GIT_PAGER=x git log'],
    ['git that changes something', 'git -c core.x=y log', 'git branch new', 'git config a.b c', 'git fetch'],
    ['an option that writes', 'sed -n 1w a', 'sed s/a/b/ a', 'sort -T /tmp a'],
  ])('does more with %s', (_what, ...lines) => {
    expect(effects(lines)).toEqual(lines.map((line) => `${line}: changes`))
  })

  test('names the options and variables that make a program do more than its name says', () => {
    expect(assessCommandLine('git -c core.x=y diff --ext-diff').extras).toEqual(['--ext-diff', '-c'])
    expect(assessCommandLine('GIT_PAGER=cat git log').extras).toEqual(['GIT_PAGER'])
    expect(assessCommandLine('find . -exec ls {} +').extras).toEqual(['-exec'])
    expect(assessCommandLine('git diff --stat').extras).toEqual([])
  })

  test('says why the user must be asked', () => {
    expect(assessCommandLine('sort -o b a').why).toBe('sort -o writes over b')
    expect(assessCommandLine('ls > b').why).toBe('it writes over b')
    expect(assessCommandLine('$X a').why).toBe('the line does not show which program it runs')
    expect(assessCommandLine('if then').why).toBe('Parley cannot read this line as every shell would')
  })
})

function behindOthers(line: string): readonly string[] {
  return [`true && ${line}`, `(cd x; ${line}\n)`, `if true; then ${line}\nfi`, `echo "$(${line}\n)"`]
}

function linesOf(name: string): readonly string[] {
  const path = new URL(`../../test/fixtures/commands/${name}`, import.meta.url)
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('##')).map((line) => line.replaceAll('⏎', '\n'))
}
