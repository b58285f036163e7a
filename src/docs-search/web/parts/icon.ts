/** A page with a marked line, for the browser's tab. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="5" y="3" width="22" height="26" rx="3" fill="#1d5a73"/><path d="M10 10h12M10 22h9" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/><path d="M10 16h12" stroke="#ffd866" stroke-width="4" stroke-linecap="round"/></svg>`
