import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { pipeline, Readable, Transform } from 'node:stream';
import { assertNever } from '#troupe/base/assert-never.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { FormPart, RequestBody } from '../request.js';
import { type BodyFile, bodyFile, type FilePlace } from './body-files.js';

/** A body ready to be sent, repeatedly for redirects. */
export interface RequestContent {
  readonly length: number;
  /** Set for forms: with their boundary. */
  readonly contentType: string | null;
  open(): Readable;
}

/**
 * Opens nothing yet, but checks that files exist and are readable.
 * @returns null if there is no body
 * @throws REQUEST_FAILED naming the file that cannot be read
 */
export async function contentOf(body: RequestBody, place: FilePlace): Promise<RequestContent | null> {
  switch (body.kind) {
    case 'none':
      return null;
    case 'text':
      return ofBytes(Buffer.from(body.text, 'utf8'));
    case 'bytes':
      return ofBytes(Buffer.from(body.base64, 'base64'));
    case 'file': {
      if (body.path.trim() === '') throw noFile('The body');
      const file = await bodyFile(body.path, place);
      if (!body.withoutNewlines) return { length: file.size, contentType: null, open: () => file.open() };
      // The reader gets the file's errors.
      const open = (): Readable => pipeline(file.open(), withoutNewlines(), () => undefined);
      let length = 0;
      for await (const chunk of open()) length += Buffer.isBuffer(chunk) ? chunk.length : 0;
      return { length, contentType: null, open };
    }
    case 'form':
      return formContent(body.parts, place);
    default:
      return assertNever(body);
  }
}

function noFile(what: string): TroupeError {
  return new TroupeError(
    'REQUEST_FAILED',
    `${what} is a file without a path; nothing was sent. Choose a file in Body`,
    {
      cause: 'NO_FILE',
    },
  );
}

function ofBytes(bytes: Buffer): RequestContent {
  return { length: bytes.length, contentType: null, open: () => Readable.from(bytes.length === 0 ? [] : [bytes]) };
}

/** What curl does for `-d @file`. */
function withoutNewlines(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, Buffer.from(chunk.toString('latin1').replace(/[\r\n\0]/g, ''), 'latin1'));
    },
  });
}

/** RFC 7578. Names and file names are escaped as browsers and curl do. */
async function formContent(parts: readonly FormPart[], place: FilePlace): Promise<RequestContent> {
  const boundary = `------------------------${randomBytes(12).toString('hex')}`;
  const pieces: (Buffer | BodyFile)[] = [];
  let length = 0;
  const put = (bytes: Buffer): void => {
    pieces.push(bytes);
    length += bytes.length;
  };
  for (const part of parts) {
    if (part.kind === 'file' && part.path.trim() === '') throw noFile(`The part '${part.name}'`);
    const file = part.kind === 'file' ? await bodyFile(part.path, place) : null;
    put(Buffer.from(`--${boundary}\r\n${partHeaders(part)}\r\n\r\n`));
    if (part.kind === 'text') put(Buffer.from(part.value));
    if (file !== null) {
      pieces.push(file);
      length += file.size;
    }
    put(Buffer.from('\r\n'));
  }
  put(Buffer.from(`--${boundary}--\r\n`));
  async function* read(): AsyncGenerator<Buffer> {
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) yield piece;
      else yield* piece.open();
    }
  }
  return {
    length,
    contentType: `multipart/form-data; boundary=${boundary}`,
    open: () => Readable.from(read(), { objectMode: false }),
  };
}

function partHeaders(part: FormPart): string {
  const lines = [`Content-Disposition: form-data; name="${escaped(part.name)}"`];
  let type = part.type;
  if (part.kind === 'file') {
    const filename = part.filename ?? basename(part.path);
    lines[0] += `; filename="${escaped(filename)}"`;
    type ??= typeOf(filename);
  }
  if (type !== undefined) lines.push(`Content-Type: ${type.replace(/[\r\n]/g, ' ')}`);
  return lines.join('\r\n');
}

function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** The types that curl derives from a file's name. */
const TYPES: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  htm: 'text/html',
  html: 'text/html',
  pdf: 'application/pdf',
  xml: 'application/xml',
};

function typeOf(filename: string): string {
  return TYPES[/\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream';
}
