import type { Word } from './shell-command.js';

/** A piece of data, before pieces are joined. Text is bytes with variables marked. */
export type DataPiece =
  | { readonly kind: 'text'; readonly text: string; readonly json: boolean; readonly at: number }
  | {
      readonly kind: 'file';
      readonly option: string;
      readonly path: string;
      readonly withoutNewlines: boolean;
      readonly json: boolean;
      readonly at: number;
    };

/** The value of an option and its position. */
export interface Given {
  readonly text: string;
  readonly at: number;
}

/** The options between two `--next`. */
export interface Operation {
  readonly urls: { readonly word: Word; readonly unsure: boolean }[];
  readonly headers: Given[];
  readonly data: DataPiece[];
  readonly forms: (Given & { readonly literal: boolean })[];
  readonly cookies: Given[];
  /** `--url-query`: as written, and as data. */
  readonly queries: { readonly text: string; readonly piece: DataPiece }[];
  method: Given | null;
  upload: Given | null;
  user: Given | null;
  userAgent: Given | null;
  referer: Given | null;
  range: Given | null;
  bearer: Given | null;
  timeCondition: Given | null;
  httpVersion: { readonly version: 'http1' | 'http2'; readonly at: number } | null;
  authScheme: 'basic' | 'digest' | 'other';
  head: boolean;
  get: boolean;
  json: boolean;
  globOff: boolean;
  pathAsIs: boolean;
  location: boolean;
  /** Redirects to other hosts get the authorization, too. */
  trusted: boolean;
  insecure: boolean;
  compressed: boolean;
}

export function emptyOperation(): Operation {
  return {
    urls: [],
    headers: [],
    data: [],
    forms: [],
    cookies: [],
    queries: [],
    method: null,
    upload: null,
    user: null,
    userAgent: null,
    referer: null,
    range: null,
    bearer: null,
    timeCondition: null,
    httpVersion: null,
    authScheme: 'basic',
    head: false,
    get: false,
    json: false,
    globOff: false,
    pathAsIs: false,
    location: false,
    trusted: false,
    insecure: false,
    compressed: false,
  };
}
