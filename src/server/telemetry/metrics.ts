/** The histograms of the server: those of the GenAI conventions with their buckets, and its own. */
import type { Histogram } from '../../ports/values/telemetry.ts'

export const TOKEN_USAGE: Histogram = {
  name: 'gen_ai.client.token.usage',
  unit: '{token}',
  bounds: Array.from({ length: 14 }, (_, power) => 4 ** power),
}

export const OPERATION_DURATION: Histogram = {
  name: 'gen_ai.client.operation.duration',
  unit: 's',
  bounds: Array.from({ length: 14 }, (_, power) => 2 ** power / 100),
}

export const APPEND_DURATION: Histogram = {
  name: 'parley.append.duration',
  unit: 's',
  bounds: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
}
