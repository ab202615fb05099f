import type { z } from 'zod';
import { TroupeError } from '../protocol/errors.js';

/** Deeper values are rejected: code that handles them later is recursive. */
const MAX_DEPTH = 100;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Issues listed in one error. */
const MAX_ISSUES = 20;

/**
 * Parses the body of a request as JSON, whatever its Content-Type. An empty body is `{}`.
 * @throws INVALID_JSON if it is not UTF-8 or not JSON; INVALID_REQUEST if it is nested deeper than 100 levels
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.byteLength === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(bytes));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'it is not valid UTF-8';
    throw new TroupeError('INVALID_JSON', `The body is not valid JSON: ${why}`, undefined, { cause });
  }
  refuseDepth(value);
  return value;
}

/**
 * Validates a value and returns the schema's output.
 * @param of what the value is, for the error message
 * @throws INVALID_REQUEST with `details.issues` [{path, message}]; unknown members are rejected by name
 */
export function checkShape<S extends z.ZodType>(schema: S, value: unknown, of: 'body' | 'query'): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.flatMap((issue) => describe(issue, value)).slice(0, MAX_ISSUES);
  const [first] = issues;
  const where = first?.path ? `"${first.path}"` : `the ${of}`;
  throw new TroupeError('INVALID_REQUEST', `${where}: ${first?.message ?? 'not valid'}`, { issues });
}

interface Issue {
  readonly path: string;
  readonly message: string;
}

function describe(issue: z.core.$ZodIssue, root: unknown): Issue[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'invalid_key') {
    // The name of a member is not allowed; the reason is in the nested issue.
    return [{ path, message: issue.issues[0]?.message ?? issue.message }];
  }
  if (issue.code !== 'unrecognized_keys') {
    return [{ path, message: isMissing(root, issue.path) ? 'required' : issue.message }];
  }
  return issue.keys.map((key) => ({
    path: [path, key.slice(0, 200)].filter(Boolean).join('.'),
    message: 'unknown field',
  }));
}

/** JSON has no undefined, so an undefined value at the path was absent. */
function isMissing(root: unknown, path: readonly PropertyKey[]): boolean {
  let value: unknown = root;
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return value === undefined;
}

function refuseDepth(root: unknown): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw new TroupeError('INVALID_REQUEST', `The body is nested deeper than ${MAX_DEPTH} levels`);
    }
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) next.push(member);
    }
    level = next;
  }
}
