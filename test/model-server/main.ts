/** `npx tsx test/model-server/main.ts FILE [PORT]`: the scripted model for people, at http://127.0.0.1:4010/v1 unless told otherwise. */
import { readFileSync } from 'node:fs'
import type { Script } from './script.ts'
import { startModelServer } from './server.ts'

const [file, port = '4010'] = process.argv.slice(2)
if (file === undefined) {
  process.stderr.write('Which script? npm run model-server -- examples/model/hello.json\n')
  process.exit(2)
}
const script = JSON.parse(readFileSync(file, 'utf8')) as Script
const server = await startModelServer(script, { port: Number(port) })
process.stdout.write(`OpenAI and Anthropic: ${server.url}/v1\nGoogle: ${server.url}/v1beta\n`)
