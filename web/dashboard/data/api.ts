import type { SessionArtifact } from '../../../src/protocol/answers.js';
import type { ErrorBody } from '../../../src/protocol/errors.js';
import type { SessionRecord } from '../../../src/protocol/session.js';

/** An unsuccessful answer, with the service's own message. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: ErrorBody;

  constructor(status: number, body: ErrorBody) {
    super(body.error);
    this.status = status;
    this.body = body;
  }
}

/** The JSON of an answer. @throws ApiError; TypeError if the service is not reachable */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (response.ok) return text === '' ? (undefined as T) : JSON.parse(text);
  throw new ApiError(response.status, errorIn(text, response.statusText));
}

/** Whether the service requires a token that this browser does not send. False if the service is not reachable. */
export async function wantsToken(): Promise<boolean> {
  try {
    const response = await fetch('api/health');
    // A request whose body is not read does not end.
    await response.text();
    return response.status === 401;
  } catch {
    return false;
  }
}

/** The text of an answer. @throws ApiError; TypeError if the service is not reachable */
export async function callText(path: string): Promise<string> {
  return (await fetchText(path)).text;
}

/** A text with its entity tag. */
export interface TaggedText {
  readonly text: string;
  /** The header `ETag` as the service sent it; '' if there is none. */
  readonly etag: string;
}

/** The text of an answer with its entity tag. @throws ApiError; TypeError if the service is not reachable */
export async function fetchText(path: string, init: RequestInit = {}): Promise<TaggedText> {
  const response = await fetch(path, init);
  const text = await response.text();
  if (response.ok) return { text, etag: response.headers.get('etag') ?? '' };
  throw new ApiError(response.status, errorIn(text, response.statusText));
}

/** An error message for people. */
export function problemOf(error: unknown): string {
  return error instanceof ApiError ? `${error.body.code}: ${error.message}` : 'The service is not reachable';
}

/** The address of the service as seen by this page, without a slash at the end. */
export const SERVICE = location.href.replace(/[#?].*$/s, '').replace(/\/$/, '');

/** Sessions older than `before`, newest first. */
export function olderSessions(before: string | null, limit: number): Promise<SessionRecord[]> {
  const query = new URLSearchParams({ limit: String(limit), ...(before === null ? {} : { before }) });
  return call('GET', `api/sessions?${query}`);
}

function errorIn(text: string, otherwise: string): ErrorBody {
  try {
    return JSON.parse(text);
  } catch {
    return { error: otherwise || 'The response could not be read', code: 'INTERNAL' };
  }
}

/** The URL of a step's screenshot. */
export function screenshotHref(id: string, name: string): string {
  return `api/sessions/${id}/screenshots/${encodeURIComponent(name)}`;
}

/** What a session left, as its zip has it. */
export function sessionArtifacts(id: string): Promise<SessionArtifact[]> {
  return call('GET', `api/sessions/${id}/artifacts`);
}

/** The URL of one artifact, by its path in the zip. */
export function artifactHref(id: string, path: string): string {
  return `api/sessions/${id}/artifacts/${path.split('/').map(encodeURIComponent).join('/')}`;
}
