/** Encodes characters that are invalid in a request line as `%XX`, in UTF-8. Existing encoding is kept. */
export function encodeForUrl(text: string): string {
  return text.replace(/[^\x21-\x7e]+|["<>`{}|\\^]/gu, (part) =>
    [...Buffer.from(part, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
