import { expect, test } from 'vitest'
import type { Entry } from './entries.ts'
import { withoutPowers } from './imported-entries.ts'

const at = { seq: 1, at: 0 }
const ids = (...all: readonly string[]) => all.map((id) => ({ id, name: id }))

test.each<readonly [Entry, object]>([
  [
    { ...at, kind: 'session_created', format: 1, cwd: '/', additionalDirectories: [], agent: 'script:/x' },
    { agent: 'asked-script:/x' },
  ],
  [
    { ...at, kind: 'session_created', format: 1, cwd: '/', additionalDirectories: [], agent: 'model' },
    { agent: 'model' },
  ],
  [{ ...at, kind: 'session_configured', additionalDirectories: [], agent: 'script:/x' }, { agent: 'asked-script:/x' }],
  [{ ...at, kind: 'mode', modeId: 'allow-all' }, { modeId: 'ask' }],
  [{ ...at, kind: 'mode', modeId: 'accept-edits' }, { modeId: 'ask' }],
  [{ ...at, kind: 'mode', modeId: 'plan' }, { modeId: 'plan' }],
  [
    { ...at, kind: 'modes', modes: { currentModeId: 'allow-all', availableModes: ids('allow-all', 'ask') } },
    { modes: { currentModeId: 'ask' } },
  ],
  [{ ...at, kind: 'modes', modes: { currentModeId: 'allow-all', availableModes: ids('allow-all') } }, { modes: null }],
  [
    { ...at, kind: 'modes', modes: { currentModeId: 'code', availableModes: ids('code') } },
    { modes: { currentModeId: 'code' } },
  ],
])('%j of an imported session grants no permission here', (entry, becomes) =>
  expect(withoutPowers(entry)).toMatchObject(becomes),
)
