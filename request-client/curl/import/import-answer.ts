import { assertNever } from '#troupe/base/assert-never.js';
import { basic } from '../../engine/basic-auth.js';
import type { FormPart, HeaderEntry, RequestBody, UserAuth } from '../../engine/request.js';
import type { ImportedVariable, ImportFault, ImportResult, ImportWarning } from './import-curl.js';

/** A body in an answer: its text, or one member that describes other content. Null if nothing is sent. */
type AnsweredBody =
  | string
  | null
  | { readonly base64: string }
  | { readonly file: string; readonly withoutNewlines?: true }
  | { readonly form: readonly FormPart[] };

interface AnsweredRequest {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  /**
   * All headers that are sent, including the Authorization of `auth`; for Digest that answers the server's challenge.
   */
  readonly headers: readonly HeaderEntry[];
  readonly body: AnsweredBody;
  /** The origin of the Authorization header. */
  readonly auth?: { readonly type: UserAuth['kind']; readonly username: string; readonly password: string };
  /** Names of headers that the command removes from those sent by default. */
  readonly withoutHeaders?: readonly string[];
}

/** The result of an import as `troupe requests import --json` prints it. */
export interface ImportAnswer {
  readonly requests: readonly AnsweredRequest[];
  readonly variables: readonly ImportedVariable[];
  readonly warnings: readonly ImportWarning[];
  readonly errors: readonly ImportFault[];
}

export function importAnswer({ requests, variables, warnings, errors }: ImportResult): ImportAnswer {
  return {
    requests: requests.map(({ name, method, url, headers, body, auth, withoutHeaders }) => ({
      name,
      method,
      url,
      headers: auth?.kind === 'basic' ? [{ name: 'Authorization', value: basic(auth) }, ...headers] : headers,
      body: answeredBody(body),
      ...(auth === null ? {} : { auth: { type: auth.kind, username: auth.username, password: auth.password } }),
      ...(withoutHeaders.length === 0 ? {} : { withoutHeaders }),
    })),
    variables,
    warnings,
    errors,
  };
}

function answeredBody(body: RequestBody): AnsweredBody {
  switch (body.kind) {
    case 'none':
      return null;
    case 'text':
      return body.text;
    case 'bytes':
      return { base64: body.base64 };
    case 'file':
      return { file: body.path, ...(body.withoutNewlines ? { withoutNewlines: true } : {}) };
    case 'form':
      return { form: body.parts };
    default:
      return assertNever(body);
  }
}
