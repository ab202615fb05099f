/** The host's description of an answer. */
export interface ResponseState {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Null if the body is too large for a script. */
  readonly text: string | null;
  readonly bytes: number;
  readonly durationMs: number;
}

function textOf({ text, bytes }: ResponseState): string {
  if (text === null) throw new Error(`The body of ${bytes} bytes is too large for a script`);
  return text;
}

function jsonOf(state: ResponseState): unknown {
  const text = textOf(state);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new Error(`The answer (${state.status}) is not JSON: ${text.slice(0, 100)}`);
  }
}

function headerOf({ headers }: ResponseState, name: unknown): string | undefined {
  const lower = String(name).toLowerCase();
  const values = headers.filter((header) => header.name.toLowerCase() === lower).map(({ value }) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The global `response`: status, headers by lower-case name, and the body, parsed if it is JSON. */
export function plainResponse(state: ResponseState): object {
  const headers: Record<string, string> = {};
  for (const { name } of state.headers) headers[name.toLowerCase()] = headerOf(state, name) ?? '';
  let body: unknown = state.text;
  if (/\bjson\b/i.test(headers['content-type'] ?? '') && state.text !== null) {
    try {
      body = JSON.parse(state.text);
    } catch {
      // The body stays text.
    }
  }
  const { status, statusText, url, text, bytes, durationMs } = state;
  return { status, statusText, url, headers, body, text, bytes, durationMs, json: () => jsonOf(state) };
}

/** Headers in Postman's form. */
export function postmanHeaders({ headers }: ResponseState): { key: string; value: string }[] {
  return headers.map(({ name, value }) => ({ key: name, value }));
}
