/** A form of an MCP server as native fields, checked before it is sent. */
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { type Field, fieldsIn } from '../../form/fields.ts'
import { type FieldValue, fitOf } from '../../form/validate-field.ts'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'

type Values = Readonly<Record<string, FieldValue | undefined>>

interface Props {
  readonly schema: Readonly<Record<string, unknown>>
  readonly send: (content: Readonly<Record<string, FieldValue>>) => void
  /** The other answers. */
  readonly children: ComponentChildren
}

export function FormFields({ schema, send, children }: Props) {
  const fields = useMemo(() => fieldsIn(schema), [schema])
  const [values, setValues] = useState<Values>(() => presetsOf(fields ?? []))
  const [misfits, setMisfits] = useState<Readonly<Record<string, string>>>({})
  const { inquiries } = words()
  const submit = (event: Event): void => {
    event.preventDefault()
    const wrong = misfitsIn(fields ?? [], values)
    setMisfits(wrong)
    if (Object.keys(wrong).length > 0) return
    send(
      Object.fromEntries(
        Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      ),
    )
  }
  return (
    <form class="fields" noValidate onSubmit={submit}>
      {fields === undefined ? <p class="trouble">{inquiries.noForm}</p> : <p class="soft">{inquiries.noSecrets}</p>}
      {fields?.map((field, index) => (
        <FieldRow
          key={field.name}
          id={`field-${index}`}
          field={field}
          value={values[field.name]}
          misfit={misfits[field.name]}
          write={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      <div class="options">
        {fields !== undefined && <button type="submit">{inquiries.sendForm}</button>}
        {children}
      </div>
    </form>
  )
}

function presetsOf(fields: readonly Field[]): Values {
  return Object.fromEntries(
    fields.map(({ name, preset, kind, required }) => [
      name,
      preset ?? (kind === 'yes or no' && required ? false : undefined),
    ]),
  )
}

function misfitsIn(fields: readonly Field[], values: Values): Readonly<Record<string, string>> {
  const { inquiries } = words()
  const found = fields.flatMap(({ name, title, required, property }) => {
    const value = values[name]
    if (value === undefined) return required ? [[name, inquiries.missing(spelledOut(title))]] : []
    const fit = fitOf(property, value)
    return 'misfit' in fit ? [[name, inquiries.misfit(spelledOut(title), fit.misfit)]] : []
  })
  return Object.fromEntries(found) as Readonly<Record<string, string>>
}

interface RowProps {
  readonly id: string
  readonly field: Field
  readonly value: FieldValue | undefined
  readonly misfit: string | undefined
  readonly write: (value: FieldValue | undefined) => void
}

function FieldRow(props: RowProps) {
  const { id, field, misfit } = props
  const { title, description, required, kind } = field
  const name = `${spelledOut(title)}${required ? ' *' : ''}`
  return (
    <div class="field">
      {kind === 'several' ? <span id={`${id}-name`}>{name}</span> : <label for={id}>{name}</label>}
      {description !== undefined && <p class="soft">{spelledOut(description)}</p>}
      <Control {...props} />
      {misfit !== undefined && (
        <p class="trouble" id={`${id}-trouble`} role="alert">
          {misfit}
        </p>
      )}
    </div>
  )
}

/** Keyboards of a phone for the formats that have one. */
const KEYBOARDS: Readonly<Record<string, 'email' | 'url'>> = { email: 'email', uri: 'url' }

function Control({ id, field, value, misfit, write }: RowProps) {
  const { kind, choices, property, required } = field
  const about = { id, 'aria-invalid': misfit !== undefined, 'aria-describedby': misfit && `${id}-trouble` }
  switch (kind) {
    case 'yes or no':
      return (
        <input
          {...about}
          type="checkbox"
          checked={value === true}
          onChange={({ currentTarget }) => write(currentTarget.checked)}
        />
      )
    case 'one':
      return (
        <select
          {...about}
          value={typeof value === 'string' ? value : ''}
          onChange={({ currentTarget }) => write(currentTarget.value === '' ? undefined : currentTarget.value)}
        >
          {(!required || value === undefined) && <option value="" />}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {spelledOut(choice.title)}
            </option>
          ))}
        </select>
      )
    case 'several':
      return <Several id={id} field={field} value={value} write={write} />
    case 'number':
      return <NumberInput {...about} value={value} write={write} />
    case 'text':
      return (
        <input
          {...about}
          inputmode={KEYBOARDS[String(property['format'])] ?? 'text'}
          autocomplete="off"
          value={typeof value === 'string' ? value : ''}
          onInput={({ currentTarget }) => write(currentTarget.value === '' ? undefined : currentTarget.value)}
        />
      )
  }
}

interface NumberProps {
  readonly id: string
  readonly value: FieldValue | undefined
  readonly write: (value: FieldValue | undefined) => void
}

/** What is typed stays as it is typed; what is no number is said when the form is sent. */
function NumberInput({ value, write, ...about }: NumberProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : String(value)))
  return (
    <input
      {...about}
      inputmode="decimal"
      autocomplete="off"
      value={text}
      onInput={({ currentTarget: { value: typed } }) => {
        setText(typed)
        write(typed.trim() === '' ? undefined : Number(typed))
      }}
    />
  )
}

function Several({ id, field: { choices }, value, write }: Omit<RowProps, 'misfit'>) {
  const chosen = Array.isArray(value) ? (value as readonly string[]) : []
  return (
    <div role="group" aria-labelledby={`${id}-name`} class="several">
      {choices.map((choice) => (
        <label key={choice.value} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(choice.value)}
            onChange={({ currentTarget }) =>
              write(
                choices
                  .map((one) => one.value)
                  .filter((one) => (one === choice.value ? currentTarget.checked : chosen.includes(one))),
              )
            }
          />
          <span>{spelledOut(choice.title)}</span>
        </label>
      ))}
    </div>
  )
}
