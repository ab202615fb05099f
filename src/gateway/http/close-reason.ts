/** Space for the reason in a close frame (RFC 6455, section 5.5): 125 bytes, of which the code takes two. */
const MAX_BYTES = 123;

/** A reason that fits into a close frame: a longer one is truncated between two characters. */
export function closeReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.byteLength <= MAX_BYTES) return reason;
  let end = MAX_BYTES;
  // A byte of the form 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
