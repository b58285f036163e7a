/** `parley token`: a token is printed once, by its maker alone. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jsonLines, parley } from './cli.ts'
import { freshDirectory } from './parley.ts'

test('is made, listed without itself, and removed', async () => {
  const home = freshDirectory()
  const made = await parley(['token', 'add', 'ci', '--role', 'prompt', '--json'], { home })
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const { name, role, token } = JSON.parse(made.stdout) as Readonly<Record<string, string>>
  expect({ name, role }).toEqual({ name: 'ci', role: 'prompt' })
  expect(token).toMatch(/^parley_[\w-]{43}$/u)

  const listed = await parley(['token', 'ls', '--json'], { home })
  expect(jsonLines(listed.stdout)).toEqual([{ name: 'ci', role: 'prompt', created: expect.any(String) as string }])
  const files = readdirSync(home, { withFileTypes: true }).filter((one) => one.isFile())
  const stored = files.map(({ name: file }) => readFileSync(join(home, file), 'latin1'))
  expect([listed.stdout, ...stored].join('')).not.toContain(token)

  expect(await parley(['token', 'add', 'ci', '--role', 'read'], { home })).toMatchObject({ code: 1, stdout: '' })
  const removed = await parley(['token', 'rm', 'ci', '--json'], { home })
  expect([removed.code, JSON.parse(removed.stdout)]).toMatchObject([0, { name: 'ci', role: 'prompt' }])
  expect(removed.stdout).not.toContain('sha256')
  expect(await parley(['token', 'rm', 'ci'], { home })).toMatchObject({ code: 1, stdout: '' })
  expect(await parley(['token'], { home })).toMatchObject({ code: 0, stdout: '' })
})

test.each([[[]], [['--role', 'root']]])('needs a role: %j is refused', async (role) => {
  const home = freshDirectory()
  const { code, stdout, stderr } = await parley(['token', 'add', 'ci', ...role], { home })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('it must be read, prompt, approve or admin')
})
