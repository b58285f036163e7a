/**
 * Requests of single agents that keep a turn waiting until they are answered: each becomes a form for the user. Agents expect
 * `{outcome: {outcome}}`.
 */
import type { ElicitationAnswer } from '../../../../ports/values/elicitation.ts'
import { textOf } from '../updates/content.ts'
import { fieldsOf, type Fields } from '../../../../rpc/json-rpc.ts'

/** What `elicitation/create` would say for this request; its answer is for `answerOf`. */
export function formFor(method: string, params: unknown): object {
  const fields = fieldsOf(params)
  const name = textOf(fields['title']) ?? textOf(fields['name']) ?? method.replace(/^.*\//u, '').replaceAll('_', ' ')
  const more = textOf(fields['overview']) ?? textOf(fields['plan']) ?? textOf(fields['message'])
  const questions = questionsIn(fields)
  const properties = Object.fromEntries(questions.map(({ id, ...question }) => [id, propertyOf(question)]))
  return {
    mode: 'form',
    message: more === undefined ? name : `${name}\n\n${more}`,
    ...(typeof fields['toolCallId'] === 'string' && { toolCallId: fields['toolCallId'] }),
    requestedSchema: { type: 'object', properties, required: questions.map(({ id }) => id) },
  }
}

/** The response for the agent. */
export function answerOf(params: unknown, answer: ElicitationAnswer): object {
  const questions = questionsIn(fieldsOf(params))
  if (answer.action !== 'accept') {
    const declined = questions.length === 0 ? 'rejected' : 'skipped'
    return { outcome: { outcome: answer.action === 'cancel' ? 'cancelled' : declined } }
  }
  if (questions.length === 0) return { outcome: { outcome: 'accepted' } }
  const answers = questions.map(({ id, options }) => {
    const given = [answer.content?.[id] ?? []].flat().map(String)
    const selectedOptionIds = options.filter(({ label }) => given.includes(label)).map((option) => option.id)
    return options.length > 0 ? { questionId: id, selectedOptionIds } : { questionId: id, text: given.join('\n') }
  })
  return { outcome: { outcome: 'answered', answers } }
}

interface AgentQuestion {
  readonly id: string
  readonly prompt: string
  readonly options: readonly { readonly id: string; readonly label: string }[]
  readonly isMultiple: boolean
}

function questionsIn({ questions }: Fields): readonly AgentQuestion[] {
  if (!Array.isArray(questions)) return []
  return questions.map((one, index) => {
    const { id, prompt, options, allowMultiple } = fieldsOf(one)
    const choices = Array.isArray(options) ? options.map(fieldsOf) : []
    return {
      id: textOf(id) ?? `question-${index + 1}`,
      prompt: textOf(prompt) ?? '',
      options: choices.flatMap(({ id: key, label }) => {
        const named = textOf(key)
        return named === undefined ? [] : [{ id: named, label: textOf(label) ?? named }]
      }),
      isMultiple: allowMultiple === true,
    }
  })
}

function propertyOf({ prompt: title, options, isMultiple }: Omit<AgentQuestion, 'id'>): object {
  if (options.length === 0) return { type: 'string', title }
  const choices = options.map(({ label }) => label)
  if (isMultiple) return { type: 'array', title, items: { type: 'string', enum: choices } }
  return { type: 'string', title, enum: choices }
}
