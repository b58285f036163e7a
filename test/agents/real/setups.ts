/** How each real agent is pointed at a scripted model: the files and variables that a person of its own would have. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Setup {
  /** As `parley agents add` knows it. */
  readonly name: string
  readonly version: string
  /** Below its home, by path. */
  readonly files: (url: string) => Readonly<Record<string, unknown>>
  readonly env: (url: string, home: string) => Readonly<Record<string, string>>
  /** Cases that are not for this version of it, and why. One that works all the same is out of date. */
  readonly cannot?: Readonly<Record<string, string>>
  /** One in which it asks before it runs a command; absent if its first one does, or none. */
  readonly mode?: string
}

export const setups: readonly Setup[] = [
  {
    name: 'opencode',
    version: '1.18.33',
    files: (url) => ({
      '.config/opencode/opencode.json': {
        provider: {
          fake: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'key' },
            models: { scripted: {} },
          },
        },
        model: 'fake/scripted',
        small_model: 'fake/scripted',
        enabled_providers: ['fake'],
        permission: { bash: 'ask' },
        share: 'disabled',
        autoupdate: false,
      },
    }),
    env: () => ({
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    }),
  },
  {
    name: 'codex',
    version: '2.6.0',
    files: (url) => ({
      '.codex/config.toml': [
        'model = "scripted"',
        'model_provider = "fake"',
        'approval_policy = "on-request"',
        '[model_providers.fake]',
        'name = "fake"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "CODEX_API_KEY"',
        'request_max_retries = 0',
        'stream_max_retries = 0',
        '',
      ].join('\n'),
    }),
    env: (_url, home) => ({
      CODEX_HOME: join(home, '.codex'),
      CODEX_API_KEY: 'key',
      NO_BROWSER: '1',
    }),
    // In the mode that it begins with, a model answers its questions.
    mode: 'workspace-write',
  },
  {
    name: 'claude',
    version: '0.101.0',
    files: () => ({
      '.claude.json': { customApiKeyResponses: { approved: ['key'], rejected: [] }, hasCompletedOnboarding: true },
    }),
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'key',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    }),
    // In the mode that it begins with, it asks nobody.
    mode: 'default',
  },
  {
    name: 'gemini',
    version: '0.61.0',
    files: () => ({
      '.gemini/settings.json': {
        security: { auth: { selectedType: 'gemini-api-key' } },
        model: { skipNextSpeakerCheck: true },
        general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      },
    }),
    env: (url) => ({ GEMINI_API_KEY: 'key', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
    cannot: { import: 'it has no `session/list`: what its own tool has said cannot be found' },
  },
  {
    name: 'pi',
    version: '0.0.34',
    files: (url) => ({
      '.pi/agent/models.json': {
        providers: {
          fake: {
            baseUrl: `${url}/v1`,
            api: 'openai-completions',
            apiKey: 'key',
            models: [{ id: 'scripted' }, { id: 'other' }],
          },
        },
      },
      '.pi/agent/settings.json': { quietStartup: true, defaultProvider: 'fake', defaultModel: 'scripted' },
    }),
    env: () => ({ PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' }),
    cannot: { 'tool with permission': 'it runs every command without asking' },
  },
]

/** Writes its files and gives its environment, all of it inside `home`. */
export function setUp({ name, files, env, mode }: Setup, url: string, home: string): Readonly<Record<string, string>> {
  const own = mode === undefined ? {} : { '.config/parley/parley.toml': `[agents.${name}]\nmode = "${mode}"\n` }
  for (const [path, content] of Object.entries({ ...files(url), ...own })) {
    const file = join(home, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  const folders = { CONFIG: '.config', DATA: '.local/share', STATE: '.local/state', CACHE: '.cache' }
  const xdg = Object.entries(folders).map(([name, folder]) => [`XDG_${name}_HOME`, join(home, folder)])
  return { HOME: home, ...Object.fromEntries(xdg), ...env(url, home) }
}
