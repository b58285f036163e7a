/** Telemetry of a server whose environment names a collector. */
import { systemClock } from '../../adapters/clock.ts'
import { OtlpExporter } from '../../adapters/telemetry/otlp-exporter.ts'
import { telemetryChoice } from '../../config/telemetry.ts'
import type { Config } from '../../config/settings.ts'
import type { Log } from '../log/log.ts'
import { serverInfo } from '../server-info.ts'
import { NO_TELEMETRY, type ServerTelemetry } from './server-telemetry.ts'
import { SessionSpans } from './session-spans.ts'
import { Watched } from './watched.ts'

/** A wrong variable means no telemetry and a line in the log: it may have been meant for another program. */
export function openTelemetry(environment: Config['environment'], log: Log): ServerTelemetry {
  const choice = telemetryChoice(environment)
  if ('reason' in choice) {
    log.note('there is no telemetry', { reason: choice.reason })
    return NO_TELEMETRY
  }
  const { serviceName, content, ...where } = choice.settings
  const resource = {
    'service.name': serviceName,
    'service.version': serverInfo.version,
    'service.instance.id': systemClock.id(),
  }
  const telemetry = new OtlpExporter({
    ...where,
    resource,
    clock: systemClock,
    note: (sentence, details) => log.note(sentence, details),
  })
  const spans = new SessionSpans({ telemetry, newId: () => systemClock.id(), content })
  const watched = new Watched({ telemetry, spans, clock: systemClock, report: log.report })
  return {
    journal: (journal) => watched.journal(journal),
    models: (models) => watched.models(models),
    tools: (host) => watched.tools(host),
    gauge: (name, unit, read) => telemetry.gauge(name, unit, read),
    close: () => telemetry.close(),
  }
}
