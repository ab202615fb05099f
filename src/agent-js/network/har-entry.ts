import { ERROR_BODY } from '../../protocol/network-log.js';
import type { CdpHeaders, CdpRequest, CdpResponse } from '../browser/cdp.js';

/** A longer value of a header, or address, is cut. */
const MAX_TEXT = 4_000;
/** The bytes of a body that an entry keeps; of a longer one it has only the length. */
export const MAX_BODY_BYTES = 256 * 1024;
/** The characters of an error's body that are kept. */
const MAX_ERROR_BODY = 4_000;
/** Headers that carry credentials. */
const HIDDEN = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$/i;
/** Fields of forms and members of JSON that carry credentials. */
const HIDDEN_FIELD = 'passw|passphrase|pwd|secret|token|api[_-]?key|authorization';
const FORM_FIELD = new RegExp(`((?:^|&)[^=&]*(?:${HIDDEN_FIELD})[^=&]*=)[^&]*`, 'gi');
const JSON_MEMBER = new RegExp(`("[^"\\\\]*(?:${HIDDEN_FIELD})[^"\\\\]*"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi');
const FORM_PART = new RegExp(`(name="[^"\\r\\n]*(?:${HIDDEN_FIELD})[^"\\r\\n]*"\\r?\\n\\r?\\n)[^\\r\\n]*`, 'gi');

/** A request while it is open. */
export interface SeenRequest {
  readonly request: CdpRequest;
  /** ISO 8601. */
  readonly at: string;
  /** Seconds of the browser's own clock. */
  readonly startedAt: number;
  readonly type: string;
  /** The id of its page; null for requests of workers. */
  readonly page: string | null;
  /** The DevTools session that reported it. */
  readonly session: string | undefined;
  response?: CdpResponse;
  respondedAt?: number;
  /** Bytes of the answer's body that have come. */
  received: number;
}

/** The body of an answer, or why there is none. */
export type SeenBody = { readonly text: string; readonly base64: boolean } | { readonly leftOut: string };

/** How a request ended. */
export interface SeenEnd {
  /** Seconds of the browser's own clock. */
  readonly at: number;
  /** The browser's error; null if the request was answered. */
  readonly failure: string | null;
  /** Bytes of the answer as they came; undefined if that is not known. */
  readonly bytes?: number | undefined;
  /** Absent if bodies are not kept. */
  readonly body?: SeenBody;
  /** The body of an error, for the report alone: archives leave it out. */
  readonly errorBody?: string;
}

/**
 * An entry of an HTTP archive (HAR 1.2).
 * @param redact takes out what nobody may see
 * @param bodies whether to include what the request sent
 */
export function harEntry(
  { request, at, startedAt, respondedAt, response, type, page }: SeenRequest,
  end: SeenEnd,
  { redact, bodies }: { readonly redact: <T>(value: T) => T; readonly bodies: boolean },
) {
  // A secret that is cut would not be recognized.
  const shown = (text: string) => redact(text).slice(0, MAX_TEXT);
  const ms = (from: number, to: number) => Math.max(0, Math.round((to - from) * 10_000) / 10);
  const wait = ms(startedAt, respondedAt ?? end.at);
  const receive = respondedAt === undefined ? 0 : ms(respondedAt, end.at);
  const httpVersion = response?.protocol ?? '';
  const sent = bodies ? postDataOf(request) : null;
  return redact({
    ...(page === null ? {} : { pageref: page }),
    startedDateTime: at,
    time: wait + receive,
    request: {
      method: request.method,
      url: shown(request.url),
      httpVersion,
      cookies: [],
      headers: headersOf(request.headers, shown),
      queryString: queryOf(request.url, shown),
      ...(sent === null ? {} : { postData: sent }),
      headersSize: -1,
      bodySize: sent === null || sent.text === '' ? -1 : Buffer.byteLength(sent.text),
    },
    response: {
      status: response?.status ?? 0,
      statusText: response?.statusText ?? '',
      httpVersion,
      cookies: [],
      headers: headersOf(response?.headers ?? {}, shown),
      content: {
        size: Math.max(0, end.bytes ?? response?.encodedDataLength ?? 0),
        mimeType: response?.mimeType ?? '',
        ...contentOf(end.body, redact),
      },
      redirectURL: shown(headerOf(response?.headers ?? {}, 'location')),
      headersSize: -1,
      bodySize: -1,
      ...(end.failure === null ? {} : { _error: end.failure }),
      // A secret that is cut would not be recognized.
      ...(end.errorBody === undefined
        ? {}
        : { [ERROR_BODY]: redact(withoutCredentials(end.errorBody)).slice(0, MAX_ERROR_BODY) }),
    },
    cache: {},
    timings: { send: 0, wait, receive },
    _resourceType: type.toLowerCase(),
  });
}

/** What a request sent, without credentials; null if it sent nothing. */
function postDataOf(request: CdpRequest): { mimeType: string; text: string; comment?: string } | null {
  if (request.hasPostData !== true) return null;
  const mimeType = headerOf(request.headers, 'content-type');
  const { postData } = request;
  if (postData === undefined)
    return { mimeType, text: '', comment: `left out: more than ${MAX_BODY_BYTES} bytes, or a file` };
  if (Buffer.byteLength(postData) > MAX_BODY_BYTES) {
    return {
      mimeType,
      text: '',
      comment: `left out: ${Buffer.byteLength(postData)} bytes, more than ${MAX_BODY_BYTES}`,
    };
  }
  return { mimeType, text: withoutCredentials(postData) };
}

function contentOf(body: SeenBody | undefined, redact: <T>(value: T) => T): object {
  if (body === undefined) return {};
  if ('leftOut' in body) return { comment: `left out: ${body.leftOut}` };
  if (!body.base64) return { text: withoutCredentials(body.text) };
  const bytes = Buffer.from(body.text, 'base64').toString('latin1');
  return redact(bytes) === bytes
    ? { text: body.text, encoding: 'base64' }
    : { comment: 'left out: it contains a secret' };
}

function withoutCredentials(text: string): string {
  return text.replace(FORM_FIELD, '$1(hidden)').replace(JSON_MEMBER, '$1"(hidden)"').replace(FORM_PART, '$1(hidden)');
}

function headerOf(headers: CdpHeaders, name: string): string {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return found === undefined ? '' : String(found[1]);
}

function headersOf(headers: CdpHeaders, shown: (text: string) => string): { name: string; value: string }[] {
  return Object.entries(headers).map(([name, value]) => ({
    name,
    value: HIDDEN.test(name) ? '(hidden)' : shown(String(value)),
  }));
}

function queryOf(url: string, shown: (text: string) => string): { name: string; value: string }[] {
  if (!URL.canParse(url)) return [];
  return [...new URL(url).searchParams].map(([name, value]) => ({ name, value: shown(value) }));
}
