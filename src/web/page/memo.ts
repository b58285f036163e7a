/** A component that is drawn again only when one of its properties is another value. */
import { Component, type ComponentType, type FunctionComponent, h } from 'preact'

export function memo<Props extends object>(view: FunctionComponent<Props>): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const keys = new Set([...Object.keys(next), ...Object.keys(this.props)]) as Set<keyof Props>
      return [...keys].some((key) => next[key] !== this.props[key])
    }

    override render() {
      return h(view, this.props as never)
    }
  }
}
