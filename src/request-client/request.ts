/** One header line as it goes on the wire; a value may hold `{{variables}}`. */
export interface HeaderEntry {
  readonly name: string;
  readonly value: string;
}

/** A part of a multipart form. A file part names its file; `filename` is what the server is told. */
export type FormPart =
  | { readonly kind: 'text'; readonly name: string; readonly value: string; readonly type?: string }
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly path: string;
      readonly type?: string;
      readonly filename?: string;
    };

/**
 * What is sent after the headers. `bytes` is for what is no UTF-8 text, in base64. `file` is read when the request runs;
 * `withoutNewlines` drops CR, LF and NUL as curl's `-d @file` does.
 */
export type RequestBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly base64: string }
  | { readonly kind: 'file'; readonly path: string; readonly withoutNewlines: boolean }
  | { readonly kind: 'form'; readonly parts: readonly FormPart[] };

/** User name and password that become an Authorization header when the request runs; with Digest once the server has asked. */
export interface UserAuth {
  readonly kind: 'basic' | 'digest';
  readonly username: string;
  readonly password: string;
}

/** How a request is sent, beyond what it says. */
export interface SendSettings {
  readonly followRedirects: boolean;
  /** False: a certificate that cannot be trusted is accepted. */
  readonly verifyTls: boolean;
  /** False: the URL goes on the wire as it is written, without percent-encoding. */
  readonly encodeUrl: boolean;
}

/**
 * A request before variables are put in. Headers are in their order, duplicates kept. `withoutHeaders` are header names
 * (lower case) that the runner would add by itself and must not.
 */
export interface RequestDraft {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderEntry[];
  readonly withoutHeaders: readonly string[];
  readonly body: RequestBody;
  readonly auth: UserAuth | null;
  readonly settings: SendSettings;
}
