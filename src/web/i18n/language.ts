/** Which language the page speaks, and how it writes times and numbers. */
import { computed, signal } from '@preact/signals'
import { type Words, en } from './en.ts'

export type Language = 'en' | 'zh'

const catalogue = signal<{ readonly language: Language; readonly words: Words }>({ language: 'en', words: en })

export const language = computed(() => catalogue.value.language)

/** The words of the page; a component that reads them is drawn again when the language changes. */
export function words(): Words {
  return catalogue.value.words
}

/** As the reader chose it, else as the browser prefers it. */
export function preferred(chosen: unknown, browser: readonly string[]): Language {
  if (chosen === 'en' || chosen === 'zh') return chosen
  return browser
    .find((one) => /^(?:en|zh)\b/iu.test(one))
    ?.toLowerCase()
    .startsWith('zh') === true
    ? 'zh'
    : 'en'
}

/** Stays with the language before when the words of the next one cannot be loaded. */
export async function speak(next: Language): Promise<void> {
  try {
    const all = next === 'zh' ? (await import('./zh.ts')).zh : en
    catalogue.value = { language: next, words: all }
  } catch {
    // A page in another language is better than none; the button asks again.
  }
}

/** `12:04`; with the day when that is another. */
export function clockTime(at: number, now: number = Date.now()): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  const form: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' }
  const day: Intl.DateTimeFormatOptions = isToday ? {} : { month: 'short', day: 'numeric' }
  return timeFormat({ ...day, ...form }).format(at)
}

/** How long ago, in a few letters; a date for what is older than a day. */
export function ago(at: number, now: number = Date.now()): string {
  const minutes = Math.floor((now - at) / 60_000)
  const { ago: forms } = words()
  if (minutes < 1) return forms.now
  if (minutes < 60) return forms.minutes(minutes)
  if (minutes < 24 * 60) return forms.hours(Math.floor(minutes / 60))
  return timeFormat({ month: 'short', day: 'numeric' }).format(at)
}

/** `0.4 s`, `12 s`, `3:05`; empty where no time is known. */
/** Empty for what took no time that a reader would notice. */
export function duration(ms: number | undefined): string {
  if (ms === undefined || ms < 50) return ''
  const { seconds, minutes } = words()
  if (ms < 9_950) return seconds((ms / 1000).toFixed(1))
  const whole = Math.round(ms / 1000)
  if (whole < 60) return seconds(String(whole))
  return minutes(Math.floor(whole / 60), String(whole % 60).padStart(2, '0'))
}

export function count(value: number): string {
  return new Intl.NumberFormat(locale(), { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}

/** To make one takes longer than to draw a row of a list. */
const timeFormats = new Map<string, Intl.DateTimeFormat>()

function timeFormat(form: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale()} ${Object.keys(form).join(' ')}`
  const known = timeFormats.get(key) ?? new Intl.DateTimeFormat(locale(), form)
  timeFormats.set(key, known)
  return known
}

function locale(): string {
  return catalogue.value.language === 'zh' ? 'zh-CN' : 'en-GB'
}

const HAN = /\p{Script=Han}/u

/** The language of a text by its letters, so that it is spelled and spoken as it should be. */
export function languageOf(text: string): string | undefined {
  return HAN.test(text.slice(0, 400)) ? 'zh' : undefined
}
