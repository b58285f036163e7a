/** `parley setup` on machines with editors: what it finds, what it writes and only when told, and that all of it can be undone. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Machine, editors } from '../../src/server/setup/editors.ts'
import { endServers, parley } from './cli.ts'
import { freshDirectory } from './parley.ts'

endServers()

/** A user account with a program `parley` on its PATH. */
function account(files: Readonly<Record<string, string>>) {
  const user = freshDirectory()
  const bin = join(user, 'bin')
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(user, path)), { recursive: true })
    writeFileSync(join(user, path), text)
  }
  put('bin/parley', '#!/bin/sh\n')
  chmodSync(join(bin, 'parley'), 0o755)
  for (const [path, text] of Object.entries(files)) put(path, text)
  const env = { HOME: user, PATH: bin, XDG_CONFIG_HOME: join(user, '.config') }
  const setup = (...args: readonly string[]) => parley(['setup', ...args], { home: join(user, 'state'), env })
  return { user, bin, setup, text: (path: string) => readFileSync(join(user, path), 'utf8') }
}

const ZED = '.config/zed/settings.json'
const COMMENTED = `// Mine.
{
    "theme": "One Dark", // dark
    "agent_servers": {
        /* others */ "Other": { "command": "other" },
    },
}
`

describe.concurrent('parley setup', () => {
  test.concurrent('writes nothing unless told', async () => {
    const { setup, text } = account({ [ZED]: COMMENTED })
    const { code, stdout } = await setup()
    expect(code).toBe(0)
    expect(stdout).toContain('parley setup zed --write')
    expect(text(ZED)).toBe(COMMENTED)
  })

  test.concurrent('writes between the comments of a file, and takes it out again', async () => {
    const { setup, text, bin } = account({ [ZED]: COMMENTED })
    expect(await setup('--write', '--json')).toMatchObject({ code: 0 })
    const written = text(ZED)
    for (const kept of ['// Mine.', '"theme": "One Dark", // dark', '/* others */ "Other":'])
      expect(written).toContain(kept)
    expect(written).toContain(`"command": "${bin}/parley"`)
    const again = await setup('zed', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ editor: 'zed', state: 'set up' })
    expect((await setup('--undo')).code).toBe(0)
    const undone = text(ZED)
    expect(undone).not.toContain('Parley')
    for (const kept of ['// Mine.', '"theme": "One Dark", // dark', '/* others */ "Other":', '"command": "other"'])
      expect(undone).toContain(kept)
  })

  test.concurrent('makes a file and its objects, and undoing removes what it made', async () => {
    const { setup, text, user } = account({ '.jetbrains/keep': '' })
    await setup('jetbrains', '--write')
    expect(JSON.parse(text('.jetbrains/acp.json'))).toMatchObject({ agent_servers: { Parley: { args: ['acp'] } } })
    await setup('--undo')
    expect(existsSync(join(user, '.jetbrains/acp.json'))).toBe(false)
  })

  test.concurrent('puts back what stood there before, also after it was written twice', async () => {
    const before = '{ "agent_servers": { "Parley": { "command": "mine" } } }'
    const { setup, text } = account({ [ZED]: before })
    await setup('zed', '--write')
    await setup('zed', '--write')
    await setup('--undo')
    expect(JSON.parse(text(ZED))).toEqual(JSON.parse(before))
  })

  test.concurrent('leaves a value alone that was changed since', async () => {
    const { setup, text, user } = account({ [ZED]: '{}' })
    await setup('zed', '--write')
    writeFileSync(join(user, ZED), text(ZED).replace('"acp"', '"acp", "--agent", "model"'))
    const changed = text(ZED)
    expect((await setup('--undo', '--json')).stdout).toContain('"undone":false')
    expect(text(ZED)).toBe(changed)
  })

  test.concurrent('writes to where a link leads, with the rights that the file has', async () => {
    const { setup, text, user } = account({ [ZED]: '{}' })
    renameSync(join(user, ZED), join(user, 'dotfile.json'))
    chmodSync(join(user, 'dotfile.json'), 0o644)
    symlinkSync(join(user, 'dotfile.json'), join(user, ZED))
    await setup('zed', '--write')
    expect(lstatSync(join(user, ZED)).isSymbolicLink()).toBe(true)
    expect(text('dotfile.json')).toContain('Parley')
    expect(lstatSync(join(user, 'dotfile.json')).mode & 0o777).toBe(0o644)
  })

  test.concurrent.each([
    ['{ "theme": ', 'line 1'],
    ['[]', 'no JSON object'],
  ])('refuses a file that is %j, and leaves it', async (broken, reason) => {
    const { setup, text } = account({ [ZED]: broken })
    const { code, stderr } = await setup('zed', '--write')
    expect(code).toBe(1)
    expect(stderr).toContain(reason)
    expect(text(ZED)).toBe(broken)
  })

  test.concurrent.each(editors.map(({ name }) => name))('--print %s prints the lines alone', async (name) => {
    const { setup, bin } = account({})
    const { code, stdout, stderr } = await setup('--print', name)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`${bin}/parley`)
    if (stdout.startsWith('{')) expect(JSON.stringify(JSON.parse(stdout))).toContain('"Parley"')
  })

  test.concurrent('an editor that is not known is named with those that are', async () => {
    const { code, stderr } = await account({}).setup('--print', 'ed')
    expect(code).toBe(2)
    expect(stderr).toContain('zed, jetbrains, vscode, neovim, emacs')
  })
})

describe.concurrent('on each system, by injected facts', () => {
  const machine = (platform: NodeJS.Platform, there: readonly string[], environment = {}): Machine => ({
    platform,
    home: '/home/u',
    environment,
    exists: (path) => there.includes(path),
    names: (path) =>
      path.endsWith('extensions') && there.includes('extension') ? ['formulahendry.acp-client-0.1.4'] : [],
    hasProgram: (name) => there.includes(name),
  })
  const fileOf = (name: string, where: Machine) =>
    editors.find((editor) => editor.name === name)?.edit?.(where, { command: 'parley', args: ['acp'] }).file

  test.concurrent.each([
    ['zed', 'linux', '/home/u/.config/zed/settings.json'],
    ['zed', 'darwin', '/home/u/.config/zed/settings.json'],
    ['zed', 'win32', '/roaming/Zed/settings.json'],
    ['vscode', 'linux', '/home/u/.config/Code/User/settings.json'],
    ['vscode', 'darwin', '/home/u/Library/Application Support/Code/User/settings.json'],
    ['vscode', 'win32', '/roaming/Code/User/settings.json'],
    ['jetbrains', 'win32', '/home/u/.jetbrains/acp.json'],
  ] as const)('%s on %s has its settings in %s', (name, platform, file) => {
    expect(fileOf(name, machine(platform, [], { APPDATA: '/roaming' }))).toBe(file)
  })

  test.concurrent('each editor is found by what it leaves on a machine', () => {
    const here = machine('linux', ['zed', 'nvim', 'emacs', 'extension', '/home/u/.jetbrains'])
    expect(editors.filter((editor) => editor.isHere(here)).map(({ name }) => name)).toEqual(
      editors.map(({ name }) => name),
    )
    expect(editors.filter((editor) => editor.isHere(machine('linux', [])))).toEqual([])
  })
})
