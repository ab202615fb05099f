/** One header line as it is sent; the value may contain `{{variables}}`. */
export interface HeaderEntry {
  readonly name: string;
  readonly value: string;
}

/** A part of a multipart form. `filename` is the name sent to the server instead of the file's own. */
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
 * The body of a request. `bytes` is base64, for content that is not UTF-8. `file` is read when the request runs;
 * `withoutNewlines` removes CR, LF and NUL as curl's `-d @file` does.
 */
export type RequestBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly base64: string }
  | { readonly kind: 'file'; readonly path: string; readonly withoutNewlines: boolean }
  | { readonly kind: 'form'; readonly parts: readonly FormPart[] };

/**
 * User name and password for the Authorization header, which is made when the request runs; for Digest and NTLM after
 * the server's challenge.
 */
export interface UserAuth {
  readonly kind: 'basic' | 'digest' | 'ntlm';
  readonly username: string;
  readonly password: string;
  /** Of NTLM only. */
  readonly domain?: string;
  readonly workstation?: string;
}

/** How a request is sent, besides its content. */
export interface SendSettings {
  readonly followRedirects: boolean;
  /** More of them are an error; 10 by default. */
  readonly maxRedirects?: number;
  /** Repeats method and body after every redirect; by default after 307 and 308 only. */
  readonly keepMethod?: boolean;
  /** Sends the Authorization header to other origins, too. */
  readonly keepAuthorization?: boolean;
  /** Names the address that redirected in a Referer header. */
  readonly addReferer?: boolean;
  /** False accepts a certificate that cannot be verified. */
  readonly verifyTls: boolean;
  /** False sends the URL as written, without percent-encoding. */
  readonly encodeUrl: boolean;
  /** Over https; by default what the server prefers. `http://` is always HTTP/1.1. */
  readonly httpVersion?: 'http1' | 'http2' | undefined;
}

/**
 * A request before variables are replaced. Headers are in their order, with duplicates. `withoutHeaders` are header
 * names (lower case) that the runner must not add by itself.
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
