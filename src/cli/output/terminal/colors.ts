/** The few text styles of the commands, or none of them where colour is not wanted. */
import picocolors from 'picocolors'

export type Style = 'plain' | 'bold' | 'heading' | 'code' | 'dim' | 'user' | 'good' | 'bad' | 'asking'

export type Paint = (style: Style, text: string) => string

export function paintFor(colored: boolean): Paint {
  const { bold, cyan, dim, green, red, yellow } = picocolors.createColors(colored)
  const painters: Readonly<Record<Style, (text: string) => string>> = {
    plain: (text) => text,
    bold,
    heading: (text) => bold(text),
    code: cyan,
    dim,
    user: (text) => bold(cyan(text)),
    good: green,
    bad: red,
    asking: yellow,
  }
  return (style, text) => (text === '' ? '' : painters[style](text))
}
