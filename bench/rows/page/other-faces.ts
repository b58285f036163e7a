/** The web faces of others that install from the package registry: only their files are fetched, nothing of them runs but in the browser. */
import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const FACES = [
  { name: 'Qwen Code 0.24.4', spec: '@qwen-code/qwen-code@0.24.4', files: 'package/web-shell' },
  { name: 'claudecodeui 1.37.3', spec: '@cloudcli-ai/cloudcli@1.37.3', files: 'package/dist' },
] as const

export interface Face {
  readonly name: string
  /** Where its files are; undefined without a registry. */
  readonly directory: string | undefined
}

export async function otherFaces(parent: string): Promise<readonly Face[]> {
  return Promise.all(FACES.map(async (face) => ({ name: face.name, directory: await fetched(face, parent) })))
}

async function fetched({ spec, files }: (typeof FACES)[number], parent: string): Promise<string | undefined> {
  const directory = await mkdtemp(join(parent, 'face-'))
  try {
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', directory, spec])
    await run('tar', ['xzf', join(directory, stdout.trim()), '-C', directory, files])
    return join(directory, files)
  } catch (error) {
    console.error(`${spec} is left out: ${String(error).split('\n', 1)[0]}`)
    return undefined
  }
}
