/** The script of the pages: a keyboard shortcut. Everything else works without it. */
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
