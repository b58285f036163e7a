import { type ServerResponse, createServer } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'
import { listenOnLoopback } from '../../../test/fixtures/process/loopback-server.ts'
import { codeIn, directoryIn, pair } from './pairing.ts'

afterEach(() => void vi.unstubAllGlobals())

test.each([
  ['#pair=Abc-_0123456789xyz', 'Abc-_0123456789xyz'],
  ['#share=Abc-_0123456789xyz', 'Abc-_0123456789xyz'],
  ['#Abc-_0123456789xyz', 'Abc-_0123456789xyz'],
  ['Abc-_0123456789xyz', 'Abc-_0123456789xyz'],
  ['', ''],
  ['#main', ''],
  ['#pair=<b>0123456789012345</b>', ''],
  ['#pair=Abc-_0123456789xyz&in=%2Fhome%2Fada', 'Abc-_0123456789xyz'],
  ['#pair=Abc-_0123456789xyz&gateway=https://evil', ''],
])('the code in %j is %j', (hash, code) => expect(codeIn(hash)).toBe(code))

test('a link may say in which directory the first session is to begin', () => {
  expect(directoryIn('#pair=Abc-_0123456789xyz&in=%2Fhome%2Fada%20l%26x')).toBe('/home/ada l&x')
  expect(directoryIn('#pair=Abc-_0123456789xyz')).toBe('')
})

test.each([
  ['says that the device is known', (device: ServerResponse) => device.end('{"known":true}'), undefined],
  ['says that it is not', (device: ServerResponse) => device.end('{"known":false}'), 'no cookie'],
  ['ends the connection', (device: ServerResponse) => device.destroy(), undefined],
  ['is a proxy without its server', (device: ServerResponse) => device.writeHead(502).end('<html>'), undefined],
])('a device that is paired, and asks a server that %s', async (_, answerDevice, wrong) => {
  const server = createServer(({ url }, response) => {
    if (url === '/pair') response.end('{}')
    else answerDevice(response)
  })
  const port = await listenOnLoopback(server)
  vi.stubGlobal('document', { baseURI: `http://127.0.0.1:${port}/` })
  vi.stubGlobal('navigator', { userAgent: 'Linux' })
  expect(await pair('Abc-_0123456789xyz')).toBe(wrong)
})
