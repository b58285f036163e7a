/** Where telemetry goes, from the standard variables of OpenTelemetry. Without an endpoint there is none. */

type Environment = Readonly<Record<string, string | undefined>>

const PROTOCOLS = ['http/protobuf', 'http/json'] as const
type Protocol = (typeof PROTOCOLS)[number]

export interface TelemetrySettings {
  /** Where spans are posted; absent: they are not. */
  readonly traces?: string
  /** Where metrics are posted; absent: they are not. */
  readonly metrics?: string
  readonly protocol: Protocol
  /** Secret. */
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  /** Prompts, answers, arguments and results of tools go with the spans. */
  readonly content: boolean
}

/** `reason`: why there is no telemetry although an endpoint is set; one sentence without secrets. */
export type TelemetryChoice = { readonly settings: TelemetrySettings } | { readonly reason: string }

/** True when the variables ask for telemetry at all; nothing of it is loaded otherwise. */
export function wantsTelemetry(environment: Environment): boolean {
  return Boolean(environment['OTEL_EXPORTER_OTLP_ENDPOINT']) && environment['OTEL_SDK_DISABLED'] !== 'true'
}

export function telemetryChoice(environment: Environment): TelemetryChoice {
  const wanted = environment['OTEL_EXPORTER_OTLP_PROTOCOL'] || PROTOCOLS[0]
  const protocol = PROTOCOLS.find((known) => known === wanted)
  if (wanted === 'grpc')
    return {
      reason: `OTEL_EXPORTER_OTLP_PROTOCOL is grpc, which Parley does not speak: use ${PROTOCOLS[0]}, most often on port 4318`,
    }
  if (protocol === undefined) return { reason: `OTEL_EXPORTER_OTLP_PROTOCOL must be ${PROTOCOLS.join(' or ')}` }
  const base = endpointOf(environment['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '')
  if (base === undefined)
    return { reason: 'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address without a name and a password' }
  const headers = headersOf(environment['OTEL_EXPORTER_OTLP_HEADERS'] ?? '')
  if (headers === undefined) return { reason: 'OTEL_EXPORTER_OTLP_HEADERS must be NAME=VALUE, separated by commas' }
  const signals = {
    ...(environment['OTEL_TRACES_EXPORTER'] !== 'none' && { traces: `${base}/v1/traces` }),
    ...(environment['OTEL_METRICS_EXPORTER'] !== 'none' && { metrics: `${base}/v1/metrics` }),
  }
  if (Object.keys(signals).length === 0)
    return { reason: 'OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER are both none' }
  const serviceName = environment['OTEL_SERVICE_NAME'] || 'parley'
  const content = environment['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'] === 'true'
  return { settings: { ...signals, protocol, headers, serviceName, content } }
}

/** Without a slash at the end; undefined for what is no address. */
function endpointOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, username, password, origin, pathname } = new URL(text)
  if (!['http:', 'https:'].includes(protocol) || username !== '' || password !== '') return undefined
  return `${origin}${pathname.replace(/\/+$/u, '')}`
}

/** Values are percent-encoded, as the specification of the variable says. */
function headersOf(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  try {
    const headers = new Headers(
      pairs.map((pair): [string, string] => {
        const at = pair.indexOf('=')
        return [pair.slice(0, Math.max(at, 0)).trim(), decodeURIComponent(pair.slice(at + 1).trim())]
      }),
    )
    return Object.fromEntries(headers)
  } catch {
    // A name or value that HTTP does not allow. Its text is not reported, because it may be a secret.
    return undefined
  }
}
