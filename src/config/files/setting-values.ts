/** The plain settings: their valid values in a file or in the environment, and the parsed values that the program gets. */
import { z } from 'zod'
import { fail } from '../../errors/parley-error.ts'

function number(reason: string, fits: (value: number) => boolean) {
  return z
    .string()
    .refine((text) => text.trim() !== '' && fits(Number(text)), reason)
    .transform(Number)
    .optional()
}

const switchText = z
  .enum(['true', 'false'], 'it must be true or false')
  .transform((text) => text === 'true')
  .optional()

const fault = z.looseObject({
  point: z.string(),
  action: z.enum(['kill', 'throw', 'delay', 'hang']),
  nth: z.number(),
  ms: z.number().optional(),
  during: z.string().optional(),
})

const settingValues = z.object({
  idle_minutes: number('it must be a number of minutes from 0', (value) => Number.isFinite(value) && value >= 0),
  max_stall_seconds: number(
    'it must be a whole number of seconds from 5, or 0',
    (value) => Number.isInteger(value) && (value === 0 || value >= 5),
  ),
  max_steps: number('it must be a whole number from 1', (value) => Number.isInteger(value) && value >= 1),
  model: z
    .string()
    .regex(/^[^:\s]+:\S/u, 'a model is PROVIDER:NAME, like ollama:qwen3; parley models lists them')
    .optional(),
  model_titles: switchText,
  discover_local_models: switchText,
  command_sandbox: z.enum(['off', 'auto', 'on'], 'it must be off, auto or on').optional(),
  command_network: switchText,
  agents_registry: z
    .string()
    .refine((text) => /^https?:\/\/./u.test(text) && URL.canParse(text), 'it must be an http or https URL')
    .optional(),
  experimental: switchText,
  docs_key: z.string().optional(),
  server_token: z.string().optional(),
  client_token: z.string().optional(),
  faults: z
    .string()
    .transform((text, context): unknown => parseJson(text, (reason) => context.addIssue(reason)))
    .pipe(z.array(fault, 'it must be a list'))
    .optional(),
})

export type SettingValues = z.output<typeof settingValues>

/** Throws CONFIG_INVALID for the first value that is not allowed. */
export function parseSettingValues(texts: Readonly<Record<string, string | undefined>>): SettingValues {
  const { data, error } = settingValues.safeParse(texts)
  if (data !== undefined) return data
  const [issue] = error.issues
  const key = String(issue?.path[0])
  return fail('CONFIG_INVALID', { key, value: JSON.stringify(texts[key]), reason: issue?.message ?? '' }, error)
}

function parseJson(text: string, refuse: (reason: string) => void): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error))
    return z.NEVER
  }
}
