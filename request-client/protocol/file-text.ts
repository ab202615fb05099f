import { TroupeError } from '#troupe/protocol/errors.js';

/**
 * The text of a file that a spreadsheet may have written: UTF-8, or UTF-16 if it begins with that byte order mark.
 * @throws INVALID_REQUEST if it has another encoding
 */
export function fileText(bytes: Uint8Array, name: string): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    // UTF-16 without a mark, or UTF-32.
    if (!text.includes('\0')) return text;
  } catch {
    // Not of this encoding.
  }
  throw new TroupeError(
    'INVALID_REQUEST',
    `The encoding of ${name} is unknown; save it as UTF-8 (in Excel: CSV UTF-8)`,
  );
}
