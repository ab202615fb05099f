import { open } from 'node:fs/promises';
import type { HttpResponse } from '../../run/response.js';

/** Bytes of a body; fewer if it ends before. */
export async function bodyPart({ body }: HttpResponse, offset: number, length: number): Promise<Buffer> {
  if (body.kind === 'memory') return body.bytes.subarray(offset, offset + length);
  const file = await open(body.path);
  try {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await file.read(buffer, 0, length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Null if the bytes are not valid text in the charset of the answer. @param cut they are the beginning of a body */
export function textIn(bytes: Buffer, contentType: string, cut: boolean): string | null {
  if (/^(?:image\/(?!svg)|audio\/|video\/|font\/)/i.test(contentType)) return null;
  const [, charset = 'utf-8'] = /charset="?([\w-]+)/i.exec(contentType) ?? [];
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: cut });
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** Each line has the offset, sixteen bytes, and their printable characters. @param first the offset of the first byte */
export function hexDump(bytes: Buffer, first = 0): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const line = bytes.subarray(at, at + 16);
    const hex = line.toString('hex').replace(/(..)(?=.)/g, '$1 ');
    const shown = line.toString('latin1').replace(/[^\x20-\x7e]/g, '.');
    lines.push(`${(first + at).toString(16).padStart(8, '0')}  ${hex.padEnd(47)}  ${shown}`);
  }
  return lines.join('\n');
}
