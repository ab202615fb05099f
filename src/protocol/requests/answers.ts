import { z } from 'zod';

/** What the request client's window shows of answers: saved examples, bytes, and parts of JSON. */

/** An answer that is saved with its request. */
export interface ExampleLine {
  readonly name: string;
  /** Null if the file does not say. */
  readonly code: number | null;
}

export interface ExampleView extends ExampleLine {
  readonly status: string;
  /** Of the request that was answered, as it was written. */
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly contentType: string;
  readonly body: string;
}

/** Saves an answer of this start with its request. */
export const SaveExample = z.strictObject({ sentId: z.string().max(40), name: z.string().min(1).max(1000) });
export const RenameExample = z.strictObject({ name: z.string().min(1).max(1000) });

/** The first byte of a part of a body; parts have at most {@link HEX_BYTES}. */
export const HexPlace = z.strictObject({ offset: z.int().min(0) });
export const HEX_BYTES = 16 * 1024;
export interface HexView {
  readonly offset: number;
  /** Sixteen bytes a line: the offset, the bytes, and their printable characters. */
  readonly text: string;
}

/** A JSONPath query (RFC 9535) for a body. */
export const JsonPathQuery = z.strictObject({ path: z.string().max(1000) });
export interface JsonPathView {
  /** What the query selects, in its original spelling: one value, or an array of all. */
  readonly text: string;
  readonly count: number;
  /** Fewer than `count` if the text would be too large. */
  readonly shown: number;
}
