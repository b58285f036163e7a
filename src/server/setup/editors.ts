/** The editors that can have Parley as an agent: how each is found on a machine, and what its settings must say. */
import { join } from 'node:path'

/** What was found out about this machine and its user. */
export interface Machine {
  readonly platform: NodeJS.Platform
  /** The user's own directory. */
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
  exists(path: string): boolean
  /** The names in a directory; none where it is not there. */
  names(path: string): readonly string[]
  /** Whether a program of this name is on PATH. */
  hasProgram(name: string): boolean
}

/** How an editor starts Parley. */
export interface Start {
  readonly command: string
  readonly args: readonly string[]
}

/** A value in a JSON file with comments. */
export interface JsonEdit {
  readonly file: string
  readonly path: readonly string[]
  readonly value: unknown
}

export interface Editor {
  readonly name: string
  readonly title: string
  isHere(machine: Machine): boolean
  /** The change of the settings file; undefined if the settings are a program, which only the user can change. */
  edit?(machine: Machine, start: Start): JsonEdit
  /** For editors whose settings are a program: the lines to put into it. */
  lines?(start: Start): string
}

export const editors: readonly Editor[] = [
  {
    name: 'zed',
    title: 'Zed',
    isHere: (machine) => hasAny(machine, ['zed', 'zeditor']) || machine.exists(zedDirectory(machine)),
    edit: (machine, start) => ({
      file: join(zedDirectory(machine), 'settings.json'),
      path: ['agent_servers', 'Parley'],
      value: { type: 'custom', ...start },
    }),
  },
  {
    name: 'jetbrains',
    title: 'JetBrains IDEs',
    isHere: (machine) => machine.exists(join(machine.home, '.jetbrains')) || machine.exists(jetbrainsSettings(machine)),
    edit: ({ home }, start) => ({
      file: join(home, '.jetbrains', 'acp.json'),
      path: ['agent_servers', 'Parley'],
      value: { ...start },
    }),
  },
  {
    name: 'vscode',
    title: 'VS Code with the extension ACP Client',
    isHere: (machine) =>
      machine.names(join(machine.home, '.vscode', 'extensions')).some((name) => name.startsWith(VSCODE_EXTENSION)),
    edit: (machine, start) => ({
      file: join(settingsDirectory(machine), 'Code', 'User', 'settings.json'),
      path: ['acp.agents', 'Parley'],
      value: { ...start },
    }),
  },
  {
    name: 'neovim',
    title: 'Neovim with CodeCompanion',
    isHere: (machine) => machine.hasProgram('nvim'),
    lines: ({ command, args }) => `require("codecompanion").setup({
  adapters = {
    acp = {
      parley = function()
        return require("codecompanion.adapters").extend("opencode", {
          name = "parley",
          formatted_name = "Parley",
          commands = { default = { ${[command, ...args].map((word) => JSON.stringify(word)).join(', ')} } },
        })
      end,
    },
  },
})
`,
  },
  {
    name: 'emacs',
    title: 'Emacs with agent-shell',
    isHere: (machine) => machine.hasProgram('emacs'),
    lines: ({ command, args }) => `(with-eval-after-load 'agent-shell
  (add-to-list 'agent-shell-agent-configs
               (agent-shell-make-agent-config
                :identifier 'parley
                :mode-line-name "Parley"
                :buffer-name "Parley"
                :shell-prompt "Parley> "
                :shell-prompt-regexp "Parley> "
                :client-maker (lambda (buffer)
                                (agent-shell--make-acp-client
                                 :command ${JSON.stringify(command)}
                                 :command-params '(${args.map((word) => JSON.stringify(word)).join(' ')})
                                 :context-buffer buffer)))))
`,
  },
]

const VSCODE_EXTENSION = 'formulahendry.acp-client-'

function hasAny(machine: Machine, programs: readonly string[]): boolean {
  return programs.some((program) => machine.hasProgram(program))
}

function zedDirectory({ platform, home, environment }: Machine): string {
  if (platform === 'win32') return join(environment['APPDATA'] ?? home, 'Zed')
  // On macOS too; only Linux heeds XDG.
  const xdg = platform === 'linux' ? environment['XDG_CONFIG_HOME'] : undefined
  return join(xdg || join(home, '.config'), 'zed')
}

function jetbrainsSettings(machine: Machine): string {
  return join(settingsDirectory(machine), 'JetBrains')
}

/** Where programs with a window keep their settings. */
function settingsDirectory({ platform, home, environment }: Machine): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return environment['APPDATA'] ?? home
  return environment['XDG_CONFIG_HOME'] || join(home, '.config')
}
