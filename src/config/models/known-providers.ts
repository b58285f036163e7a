/** Well-known providers: their addresses, and the variables that hold their keys. */
import type { ProviderKind } from '../../ports/values/provider.ts'

export interface KnownProvider {
  readonly name: string
  readonly title: string
  readonly kind: ProviderKind
  readonly url: string
  readonly keyNames: readonly string[]
  /** Variables that put it elsewhere. */
  readonly urlNames: readonly string[]
  /** The default model. */
  readonly preferred?: string
}

/** In the order in which they are preferred; those of this machine last. */
export const knownProviders: readonly KnownProvider[] = [
  {
    name: 'anthropic',
    title: 'Anthropic',
    kind: 'anthropic',
    url: 'https://api.anthropic.com/v1',
    keyNames: ['ANTHROPIC_API_KEY'],
    urlNames: ['ANTHROPIC_BASE_URL'],
    preferred: 'claude-sonnet-5-5',
  },
  {
    name: 'openai',
    title: 'OpenAI',
    kind: 'openai',
    url: 'https://api.openai.com/v1',
    keyNames: ['OPENAI_API_KEY'],
    urlNames: ['OPENAI_BASE_URL'],
    preferred: 'gpt-5.1',
  },
  {
    name: 'google',
    title: 'Google',
    kind: 'google',
    url: 'https://generativelanguage.googleapis.com/v1beta',
    keyNames: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_API_KEY'],
    urlNames: ['GEMINI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL'],
    preferred: 'gemini-flash-latest',
  },
  hosted('openrouter', 'OpenRouter', ['https://openrouter.ai/api/v1', 'openrouter/auto']),
  hosted('mistral', 'Mistral', ['https://api.mistral.ai/v1', 'mistral-large-latest']),
  hosted('deepseek', 'DeepSeek', ['https://api.deepseek.com/v1', 'deepseek-chat']),
  hosted('groq', 'Groq', ['https://api.groq.com/openai/v1', 'openai/gpt-oss-120b']),
  hosted('xai', 'xAI', ['https://api.x.ai/v1', 'grok-4']),
  local('ollama', 'Ollama', { port: 11_434, urlNames: ['OLLAMA_HOST'] }),
  local('lmstudio', 'LM Studio', { port: 1234 }),
  local('llamacpp', 'llama.cpp', { port: 8080 }),
  local('vllm', 'vLLM', { port: 8000 }),
]

/** Its variables are named after it. */
function hosted(name: string, title: string, [url, preferred]: readonly [string, string]): KnownProvider {
  const word = name.toUpperCase()
  return { name, title, kind: 'openai', url, keyNames: [`${word}_API_KEY`], urlNames: [`${word}_BASE_URL`], preferred }
}

/** Its usual port on this machine, and nowhere else. */
function local(
  name: string,
  title: string,
  { port, urlNames = [] }: { readonly port: number; readonly urlNames?: readonly string[] },
): KnownProvider {
  return { name, title, kind: 'openai', url: `http://127.0.0.1:${port}/v1`, keyNames: [], urlNames }
}
