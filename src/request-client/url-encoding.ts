/** What cannot stand in a request line as `%XX`, UTF-8 first. What is encoded already stays. */
export function encodeForUrl(text: string): string {
  return text.replace(/[^\x21-\x7e]+|["<>`{}|\\^]/gu, (part) =>
    [...Buffer.from(part, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
