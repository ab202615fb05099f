/** Bytes of a file, both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The bytes that a Range header asks for (RFC 9110, section 14). Null: the whole file, because there is no header, or one
 * that may be ignored, such as several ranges. `unsatisfiable`: no byte of it exists.
 * @param size of the file, in bytes
 */
export function byteRange(header: string, size: number): ByteRange | null | 'unsatisfiable' {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.trim()) ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return null;
  if (from === '') {
    const last = Math.min(Number(to), size);
    return last === 0 ? 'unsatisfiable' : { start: size - last, end: size - 1 };
  }
  const start = Number(from);
  if (to !== '' && Number(to) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
