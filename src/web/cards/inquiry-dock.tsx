/** What an MCP server or an agent asks besides permission: a form to fill in, or a page to visit. */
import { spelledOut } from '../markdown/invisible.ts'
import { Plain } from '../markdown/plain.tsx'
import { safeLink } from '../markdown/links.ts'
import { words } from '../i18n/language.ts'
import type { FormInquiry, Inquiry, VisitInquiry } from '../sessions/inquiries.ts'
import { FormFields } from './form-fields.tsx'

export function InquiryDock({ inquiry }: { readonly inquiry: Inquiry }) {
  return (
    <div class="dock">
      <div class="card inquiry" role="group" aria-label={spelledOut(inquiry.message)} data-question>
        <p class="card-head">
          <span class="state waiting" aria-hidden="true">
            ?
          </span>
          <strong>
            <Plain text={inquiry.message} />
          </strong>
        </p>
        {inquiry.kind === 'form' ? <Form inquiry={inquiry} /> : <Visit inquiry={inquiry} />}
      </div>
    </div>
  )
}

function Form({ inquiry }: { readonly inquiry: FormInquiry }) {
  const { inquiries, cancel } = words()
  return (
    <FormFields schema={inquiry.schema} send={(content) => inquiry.answer({ action: 'accept', content })}>
      <button type="button" class="second" onClick={() => inquiry.answer({ action: 'decline' })}>
        {inquiries.decline}
      </button>
      <button type="button" class="second" onClick={() => inquiry.answer({ action: 'cancel' })}>
        {cancel}
      </button>
    </FormFields>
  )
}

/** Nothing is loaded before the reader agrees, and the whole address is there to be read. */
function Visit({ inquiry }: { readonly inquiry: VisitInquiry }) {
  const { inquiries, cancel } = words()
  const link = safeLink(inquiry.url, '')
  return (
    <>
      <pre class="address" tabIndex={0}>
        <Plain text={inquiry.url} />
      </pre>
      {link === undefined ? (
        <p class="trouble">{inquiries.noPage}</p>
      ) : (
        <>
          <p>
            {inquiries.leadsTo} <strong>{link.host}</strong>
          </p>
          {/(?:^|\.)xn--/u.test(new URL(link.href).hostname) && <p class="trouble">{inquiries.oddLetters}</p>}
        </>
      )}
      <div class="options">
        {link !== undefined && (
          <a
            class="button"
            href={link.href}
            target="_blank"
            rel="noopener noreferrer nofollow"
            onClick={() => inquiry.answer('accept')}
          >
            {inquiries.openPage}
          </a>
        )}
        <button type="button" class="second" onClick={() => inquiry.answer('decline')}>
          {inquiries.decline}
        </button>
        <button type="button" class="second" onClick={() => inquiry.answer('cancel')}>
          {cancel}
        </button>
      </div>
    </>
  )
}
