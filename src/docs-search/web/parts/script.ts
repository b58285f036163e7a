/** What little the pages do by themselves; without it nothing is missing but a key on the keyboard. */
export const SCRIPT = `'use strict'
const search = document.getElementById('parley-q')
const writing = (element) => element instanceof HTMLElement && (element.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(element.tagName))
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || writing(event.target) || !search) return
  event.preventDefault()
  search.focus()
  search.select()
})
// On a small screen the outline would push the document out of sight.
const outline = document.querySelector('details.outline')
if (outline && matchMedia('(max-width: 64rem)').matches) outline.open = false
`
