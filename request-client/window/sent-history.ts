import { open } from 'node:fs/promises';
import type { RequestResult } from '../engine/collection-run/result.js';
import { type HttpResponse, headerValues } from '../engine/run/response.js';
import type { ResponseView, SentView } from '../protocol/request-window.js';

const MAX_ENTRIES = 200;
/** Bytes of bodies kept in memory; beyond this the oldest answers lose theirs. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;
/** Bytes of a body that a page gets at once. */
const SHOWN_BYTES = 1024 * 1024;
const HEX_BYTES = 4096;

interface Entry {
  readonly view: SentView;
  readonly response: HttpResponse | null;
}

/** The answers since the window was opened, newest first. In memory only: they contain secrets. */
export class SentHistory {
  #entries: Entry[] = [];
  #count = 0;

  find(id: string): SentView | undefined {
    return this.#entries.find(({ view }) => view.id === id)?.view;
  }

  /** The complete answer, while it is kept. The history disposes of it. */
  response(id: string): HttpResponse | undefined {
    return this.#entries.find(({ view }) => view.id === id)?.response ?? undefined;
  }

  /** Takes ownership of the result and its response. `mask` masks secrets in the output of scripts and servers. */
  async add(result: RequestResult, itemId: string, at: number, mask: (text: string) => string): Promise<SentView> {
    const { request, response, error, tests, unresolved, durationMs } = result;
    this.#count += 1;
    const view: SentView = {
      id: `s${this.#count}`,
      itemId,
      at,
      name: request.name,
      method: response?.method ?? request.method,
      url: request.url,
      requestHeaders: request.headers,
      response: response === null ? null : await responseView(response),
      error: error === null ? null : { ...error, error: mask(error.error) },
      tests: tests.map((test) => ({ ...test, message: mask(test.message) })),
      console: result.console.map(mask),
      unresolved,
      durationMs,
    };
    this.#entries.unshift({ view, response });
    await this.#trim();
    return view;
  }

  /** Disposes of every answer. Idempotent. */
  async clear(): Promise<void> {
    await Promise.all(this.#entries.splice(0).map(({ response }) => response?.dispose()));
  }

  async #trim(): Promise<void> {
    let bytes = 0;
    const kept = this.#entries.findIndex(({ response }, index) => {
      bytes += response?.bodyBytes ?? 0;
      return index > 0 && (index >= MAX_ENTRIES || bytes > MAX_BODY_BYTES);
    });
    if (kept === -1) return;
    await Promise.all(this.#entries.splice(kept).map(({ response }) => response?.dispose()));
  }
}

async function responseView(response: HttpResponse): Promise<ResponseView> {
  const { status, statusText, url, headers, bodyBytes, durationMs, redirects } = response;
  const contentType = headerValues(headers, 'content-type')[0] ?? '';
  const beginning = await beginningOf(response);
  const text = textIn(beginning, contentType, bodyBytes > SHOWN_BYTES);
  return {
    status,
    statusText,
    url,
    headers,
    bytes: bodyBytes,
    durationMs,
    redirects,
    contentType,
    text,
    cut: text !== null && bodyBytes > SHOWN_BYTES,
    hex: text === null ? hexDump(beginning.subarray(0, HEX_BYTES)) : '',
  };
}

async function beginningOf({ body }: HttpResponse): Promise<Buffer> {
  if (body.kind === 'memory') return body.bytes.subarray(0, SHOWN_BYTES);
  const file = await open(body.path);
  try {
    const buffer = Buffer.alloc(SHOWN_BYTES);
    const { bytesRead } = await file.read(buffer, 0, SHOWN_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Each line has the offset, sixteen bytes, and their printable characters. */
function hexDump(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const line = bytes.subarray(at, at + 16);
    const hex = line.toString('hex').replace(/(..)(?=.)/gs, '$1 ');
    const shown = line.toString('latin1').replace(/[^\x20-\x7e]/g, '.');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex.padEnd(47)}  ${shown}`);
  }
  return lines.join('\n');
}

/** Null if the bytes are not valid text in the charset of the answer. */
function textIn(bytes: Buffer, contentType: string, cut: boolean): string | null {
  if (/^(?:image\/(?!svg)|audio\/|video\/|font\/)/i.test(contentType)) return null;
  const [, charset = 'utf-8'] = /charset="?([\w-]+)/i.exec(contentType) ?? [];
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: cut });
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
