/** Records a session that survives `kill -9`, for the README: `npx tsx scripts/recording/main.ts`. */
import { writeFileSync } from 'node:fs'
import { pictureOf } from './picture.ts'
import { record } from './record.ts'

writeFileSync(new URL('../../docs/kill.svg', import.meta.url), pictureOf(await record()))
