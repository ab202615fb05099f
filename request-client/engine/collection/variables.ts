import { randomUUID } from 'node:crypto';
import { dynamicVariables } from '../collection-run/postman-modules.js';
import type { RequestBody, RequestDraft } from '../request.js';

/** Variables by name; the first scope with a name takes precedence. */
export type VariableScope = ReadonlyMap<string, string>;

/** Values may contain variables themselves, up to this depth. */
const MAX_NESTING = 20;
const PLACE = /\{\{([^{}]+)\}\}/g;

/** The dynamic variables that most requests use; the others are Postman's own, whose modules take a moment to load. */
const DYNAMIC: Readonly<Record<string, () => string>> = {
  $guid: randomUUID,
  $randomUUID: randomUUID,
  $timestamp: () => String(Math.floor(Date.now() / 1000)),
  $isoTimestamp: () => new Date().toISOString(),
  $randomInt: () => String(Math.floor(Math.random() * 1001)),
};

/** Replaces `{{name}}` by values, dynamic ones by a new value at each place. A variable without a value is kept as written, and its name is added to `missing`. */
export class VariableResolver {
  readonly missing = new Set<string>();
  readonly #scopes: readonly VariableScope[];

  constructor(scopes: readonly VariableScope[]) {
    this.#scopes = scopes;
  }

  text(text: string): string {
    let resolved = text;
    for (let depth = 0; depth < MAX_NESTING && resolved.includes('{{'); depth += 1) {
      const next = resolved.replace(PLACE, (place, name: string) => this.#value(name.trim()) ?? place);
      if (next === resolved) break;
      resolved = next;
    }
    for (const [, name = ''] of resolved.matchAll(PLACE)) this.missing.add(name.trim());
    return resolved;
  }

  request(request: RequestDraft): RequestDraft {
    const { auth } = request;
    return {
      ...request,
      url: this.text(request.url),
      method: this.text(request.method),
      headers: request.headers.map(({ name, value }) => ({ name: this.text(name), value: this.text(value) })),
      body: this.#body(request.body),
      auth: auth === null ? null : { ...auth, username: this.text(auth.username), password: this.text(auth.password) },
    };
  }

  #body(body: RequestBody): RequestBody {
    if (body.kind === 'text') return { kind: 'text', text: this.text(body.text) };
    if (body.kind === 'file') return { ...body, path: this.text(body.path) };
    if (body.kind !== 'form') return body;
    const parts = body.parts.map((part) => {
      const name = this.text(part.name);
      return part.kind === 'text'
        ? { ...part, name, value: this.text(part.value) }
        : { ...part, name, path: this.text(part.path) };
    });
    return { kind: 'form', parts };
  }

  #value(name: string): string | undefined {
    for (const scope of this.#scopes) {
      const value = scope.get(name);
      if (value !== undefined) return value;
    }
    if (!name.startsWith('$')) return undefined;
    const made: unknown = (DYNAMIC[name] ?? dynamicVariables().get(name))?.();
    return made === undefined ? undefined : String(made);
  }
}
