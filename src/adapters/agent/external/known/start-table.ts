/** The agents that Parley knows without asking a registry: how each is started and installed, and which environment variables it gets. */

export interface KnownAgent {
  /** As people type it. */
  readonly id: string
  /** In the ACP registry, if it is called otherwise there. */
  readonly registryId?: string
  readonly title: string
  readonly aliases?: readonly string[]
  /** Its `agentInfo.name`, by which its quirk rows are found before it runs. */
  readonly info?: string
  /** A program on PATH. */
  readonly command: string
  readonly args: readonly string[]
  /** The program speaks ACP itself: the user's own one comes first, because it has the user's login. Otherwise an adapter does. */
  readonly isOwnProgram: boolean
  /** Where it comes from; absent where Parley cannot install it. */
  readonly npm?: NpmPackage
  /** The lowest version of Node that runs it. */
  readonly node?: string
  /** In words, for people. */
  readonly login: string
  /** Environment variables that it gets besides the base list; `*` at the end stands for more. */
  readonly vars: readonly string[]
  /** Variables that are set for it, unless the user sets them. */
  readonly sets?: Readonly<Record<string, string>>
}

export interface NpmPackage {
  readonly name: string
  /** The last version that was tried with Parley: what `parley agents add` installs if no version is named. */
  readonly version: string
  /** Its name under `bin`. */
  readonly bin: string
  /** On disk. */
  readonly megabytes?: number
  /** The packages whose install scripts it needs. No other script runs. */
  readonly scripts?: readonly string[]
  /** Programs that it starts, each an exact package: their commands are on its PATH. */
  readonly with?: readonly string[]
}

/** The keys of model providers that many agents read. */
const PROVIDER_KEYS = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'OPENROUTER_API_KEY',
  'MISTRAL_API_KEY',
  'GROQ_API_KEY',
  'XAI_API_KEY',
  'DEEPSEEK_API_KEY',
] as const

export const startTable: readonly KnownAgent[] = [
  {
    id: 'claude',
    registryId: 'claude-acp',
    title: 'Claude Code',
    aliases: ['claude-code', 'claude-code-acp', 'claude-agent-acp'],
    info: '@agentclientprotocol/claude-agent-acp',
    command: 'claude-agent-acp',
    args: [],
    isOwnProgram: false,
    npm: {
      name: '@agentclientprotocol/claude-agent-acp',
      version: '0.101.0',
      bin: 'claude-agent-acp',
      megabytes: 401,
    },
    node: '22.0.0',
    login: 'in a terminal',
    vars: ['ANTHROPIC_*', 'CLAUDE_*', 'IS_SANDBOX'],
    sets: { DISABLE_AUTOUPDATER: '1' },
  },
  {
    id: 'codex',
    registryId: 'codex-acp',
    title: 'Codex',
    info: '@agentclientprotocol/codex-acp',
    command: 'codex-acp',
    args: [],
    isOwnProgram: false,
    npm: { name: '@agentclientprotocol/codex-acp', version: '2.6.0', bin: 'codex-acp', megabytes: 457 },
    login: 'a key, ChatGPT in a browser, or a code',
    vars: ['CODEX_*', 'OPENAI_API_KEY', 'MODEL_PROVIDER', 'INITIAL_AGENT_MODE', 'NO_BROWSER', 'DEFAULT_AUTH_REQUEST'],
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    aliases: ['gemini-cli'],
    info: 'gemini-cli',
    command: 'gemini',
    args: ['--acp'],
    isOwnProgram: true,
    npm: { name: '@google/gemini-cli', version: '0.61.0', bin: 'gemini', megabytes: 100 },
    node: '20.0.0',
    login: 'Google in a browser, a key, Vertex AI, or a gateway',
    vars: ['GEMINI_*', 'GOOGLE_*'],
  },
  {
    id: 'opencode',
    title: 'OpenCode',
    info: 'OpenCode',
    command: 'opencode',
    args: ['acp'],
    isOwnProgram: true,
    npm: { name: 'opencode-ai', version: '1.18.33', bin: 'opencode', megabytes: 354, scripts: ['opencode-ai'] },
    login: 'in a terminal',
    vars: [...PROVIDER_KEYS, 'OPENCODE_*'],
    sets: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  },
  {
    id: 'pi',
    registryId: 'pi-acp',
    title: 'Pi',
    info: 'pi-acp',
    command: 'pi-acp',
    args: [],
    isOwnProgram: false,
    npm: {
      name: 'pi-acp',
      version: '0.0.34',
      bin: 'pi-acp',
      megabytes: 166,
      with: ['@earendil-works/pi-coding-agent@0.87.1'],
    },
    node: '22.19.0',
    login: 'in a terminal',
    vars: [...PROVIDER_KEYS, 'PI_*'],
    sets: { PI_SKIP_VERSION_CHECK: '1' },
  },
  {
    id: 'qwen',
    registryId: 'qwen-code',
    title: 'Qwen Code',
    command: 'qwen',
    args: ['--acp'],
    isOwnProgram: true,
    npm: { name: '@qwen-code/qwen-code', version: '0.24.4', bin: 'qwen' },
    login: 'a key, or in a browser',
    vars: ['OPENAI_*', 'DASHSCOPE_*', 'QWEN_*'],
  },
  {
    id: 'goose',
    title: 'goose',
    command: 'goose',
    args: ['acp'],
    isOwnProgram: true,
    login: 'goose configure',
    vars: [...PROVIDER_KEYS, 'GOOSE_*'],
  },
  {
    id: 'copilot',
    registryId: 'github-copilot-cli',
    title: 'GitHub Copilot',
    aliases: ['github-copilot'],
    command: 'copilot',
    args: ['--acp', '--stdio'],
    isOwnProgram: true,
    npm: { name: '@github/copilot', version: '1.0.102', bin: 'copilot' },
    login: 'in a terminal, or a token',
    vars: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'],
  },
  {
    id: 'cursor',
    title: 'Cursor',
    aliases: ['cursor-agent'],
    command: 'cursor-agent',
    args: ['acp'],
    isOwnProgram: true,
    login: 'in a browser',
    vars: ['CURSOR_*'],
  },
  {
    id: 'cline',
    title: 'Cline',
    command: 'cline',
    args: ['--acp'],
    isOwnProgram: true,
    npm: { name: 'cline', version: '3.0.65', bin: 'cline' },
    login: 'cline auth',
    vars: [...PROVIDER_KEYS, 'CLINE_*'],
  },
  {
    id: 'kilo',
    title: 'Kilo Code',
    aliases: ['kilocode'],
    command: 'kilo',
    args: ['acp'],
    isOwnProgram: true,
    login: 'in a terminal',
    vars: [...PROVIDER_KEYS, 'KILO_*'],
  },
  {
    id: 'kimi',
    title: 'Kimi CLI',
    command: 'kimi',
    args: ['acp'],
    isOwnProgram: true,
    login: 'in a terminal',
    vars: ['KIMI_*', 'MOONSHOT_*'],
  },
  {
    id: 'vibe',
    registryId: 'mistral-vibe',
    title: 'Mistral Vibe',
    command: 'vibe-acp',
    args: [],
    isOwnProgram: true,
    login: 'a key',
    vars: ['MISTRAL_*', 'VIBE_*'],
  },
  {
    id: 'auggie',
    title: 'Auggie',
    command: 'auggie',
    args: ['--acp'],
    isOwnProgram: true,
    login: 'in a browser',
    vars: ['AUGMENT_*'],
  },
  {
    id: 'droid',
    registryId: 'factory-droid',
    title: 'Factory Droid',
    command: 'droid',
    args: ['exec', '--output-format', 'acp'],
    isOwnProgram: true,
    login: 'a key',
    vars: ['FACTORY_*'],
  },
  {
    id: 'grok',
    registryId: 'grok-build',
    title: 'Grok Build',
    command: 'grok',
    args: ['agent', 'stdio'],
    isOwnProgram: true,
    login: 'in a browser',
    vars: ['GROK_*', 'XAI_*'],
  },
  {
    id: 'kiro',
    title: 'Kiro',
    aliases: ['kiro-cli'],
    // kiro-cli itself starts this one and leaves it behind when it is killed.
    command: 'kiro-cli-chat',
    args: ['acp'],
    isOwnProgram: true,
    login: 'in a browser',
    vars: ['KIRO_*', 'AWS_PROFILE', 'AWS_REGION'],
  },
  {
    id: 'junie',
    title: 'Junie',
    command: 'junie',
    args: ['--acp=true'],
    isOwnProgram: true,
    login: 'in a browser',
    vars: ['JUNIE_*'],
  },
  {
    id: 'qoder',
    title: 'Qoder',
    command: 'qodercli',
    args: ['--acp'],
    isOwnProgram: true,
    login: 'in a browser',
    vars: ['QODER_*'],
  },
  {
    id: 'devin',
    title: 'Devin',
    command: 'devin',
    args: ['acp'],
    isOwnProgram: true,
    login: 'a key',
    vars: ['DEVIN_*'],
  },
  {
    id: 'iflow',
    title: 'iFlow',
    command: 'iflow',
    args: ['--experimental-acp'],
    isOwnProgram: true,
    login: 'a key, or in a browser',
    vars: ['IFLOW_*'],
  },
]

/** By its id, its id in the registry, or an alias. */
export function knownAgent(name: string): KnownAgent | undefined {
  return startTable.find(({ id, registryId, aliases = [] }) => [id, registryId, ...aliases].includes(name))
}
