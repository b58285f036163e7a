/** Text of an agent where it must not deceive: what cannot be seen is a visible mark. */
import { piecesOf } from './invisible.ts'

export function Plain({ text }: { readonly text: string }) {
  return (
    <>
      {piecesOf(text).map((piece) =>
        typeof piece === 'string' ? (
          piece
        ) : (
          <span class="unseen" title={piece.unseen}>
            {piece.unseen}
          </span>
        ),
      )}
    </>
  )
}
