import type { Readable } from 'node:stream';
import type { HeaderEntry } from '../request.js';

/** The beginning of an answer, of any version of HTTP; its body is still to come, or destroyed by who does not want it. */
export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: string;
  /** As received; values are read as UTF-8. */
  readonly headers: readonly HeaderEntry[];
  readonly body: Readable;
}

/** A request as it is sent. */
export interface WireRequest {
  readonly method: string;
  /** Path and query, one character per byte. */
  readonly path: string;
  readonly headers: readonly HeaderEntry[];
  /** Null without a body. Called once for each attempt. */
  readonly open: (() => Readable) | null;
}

/** Values of headers are bytes, one character each, which mean UTF-8. */
export function fromWire(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

export function toWire(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

/** @param raw names and values, alternating */
export function headerEntries(raw: readonly string[]): HeaderEntry[] {
  const headers: HeaderEntry[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    headers.push({ name: raw[at] ?? '', value: fromWire(raw[at + 1] ?? '') });
  }
  return headers;
}
