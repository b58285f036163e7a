/** What v1 carries in `_meta`: the `meta` of the core, and what the core has fields for and v1 has not. */
import type { Content, Meta, ToolCallPatch } from '../../../../ports/content.ts'
import type { Choice, ChoiceGroup, ConfigOption, Modes } from '../../../../ports/settings.ts'

interface WithMeta {
  readonly meta?: Meta | null
}

/** The same object where it has no `meta`, as nearly all have. */
export function metaOut<Value extends WithMeta>(value: Value): Omit<Value, 'meta'> {
  if (value.meta === undefined) return value
  const { meta, ...rest } = value
  return { ...rest, _meta: meta }
}

export function contentOut(content: Content): object {
  return content.type === 'resource' ? metaOut({ ...content, resource: metaOut(content.resource) }) : metaOut(content)
}

interface WireBlock {
  readonly _meta?: unknown
  readonly resource?: WireBlock
}

/** A content block that a client sent, as the core has it. */
export function contentIn({ _meta, ...block }: WireBlock): Content {
  const resource = block.resource && { resource: contentIn(block.resource) }
  return { ...block, ...resource, ...(_meta !== undefined && { meta: _meta }) } as unknown as Content
}

/** Who decided about the call stands under a key of ours. */
export function callMetaOut({ permission, meta, locations, ...call }: ToolCallPatch): object {
  const patch = { ...call, ...(locations && { locations: locations.map(metaOut) }) }
  const _meta = { ...meta, ...(permission && { 'parley/permission': permission }) }
  return permission === undefined && meta === undefined ? patch : { ...patch, _meta }
}

export function modesOut({ currentModeId, availableModes }: Modes): object {
  return { currentModeId, availableModes: availableModes.map(metaOut) }
}

export function optionOut(option: ConfigOption): object {
  if (option.type !== 'select') return metaOut(option)
  const { allowsOther, configuredValue, meta, options, ...rest } = option
  const _meta = {
    ...meta,
    ...(allowsOther && { 'parley/open': true }),
    ...(configuredValue !== undefined && { 'parley/named': configuredValue }),
  }
  const shown = { ...rest, options: options.map(choiceOut) }
  return Object.keys(_meta).length === 0 ? shown : { ...shown, _meta }
}

function choiceOut(choice: Choice | ChoiceGroup): object {
  return 'group' in choice ? metaOut({ ...choice, options: choice.options.map(metaOut) }) : metaOut(choice)
}
