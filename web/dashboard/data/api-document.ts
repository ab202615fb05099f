import type { Role } from '../../../src/protocol/access.js';
import { call } from './api.js';

/** The displayed part of a JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Content {
  readonly [contentType: string]: { readonly schema?: Schema; readonly example?: unknown };
}

/** A parameter of the path, the query, or the header. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: string;
  /** It is several segments of the path: its slashes are not encoded. */
  readonly 'x-slashes'?: boolean;
  readonly schema: Schema;
}

interface Response {
  readonly description: string;
  readonly content?: Content;
}

/** One method of one path. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  /** The least role of a caller; absent if no token is needed. */
  readonly 'x-role'?: Role;
  /** What it overwrites or ends cannot be brought back. */
  readonly 'x-destructive'?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly description: string; readonly content: Content };
  readonly responses: { readonly [status: string]: Response };
}

/** The displayed part of `GET /api/openapi.json`. */
export interface ApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly [name: string]: Schema } };
}

/** An operation with its method, in capitals, and its path. */
export interface ListedOperation extends Operation {
  readonly method: string;
  readonly path: string;
}

/** Operations that belong together. */
export interface Topic {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly ListedOperation[];
}

export function apiDocument(): Promise<ApiDocument> {
  return call('GET', 'api/openapi.json');
}

/** The operations of a document by its tags, in the order of the document. */
export function topicsOf({ tags, paths }: ApiDocument): readonly Topic[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
  return tags.map(({ name, description }) => ({
    name,
    description,
    operations: all.filter((operation) => operation.tags.includes(name)),
  }));
}

/** The topics with the operations that have every word of a filter in their method, path, summary, or topic. */
export function filteredTopics(topics: readonly Topic[], filter: string): readonly Topic[] {
  const words = filter.toLowerCase().split(/\s+/);
  return topics
    .map((topic) => ({
      ...topic,
      operations: topic.operations.filter(({ method, path, summary }) => {
        const text = `${method} ${path} ${summary} ${topic.name}`.toLowerCase();
        return words.every((word) => text.includes(word));
      }),
    }))
    .filter(({ operations }) => operations.length > 0);
}

/** The status of a success, its content type, and its example. The content type is '' for an empty response. */
export interface Success {
  readonly status: string;
  readonly type: string;
  readonly schema: Schema | undefined;
  readonly example: unknown;
}

/** The response of an operation that did what it was asked to do. */
export function successOf({ responses }: Operation): Success {
  const [status = '200', response] = Object.entries(responses).find(([code]) => Number(code) < 400) ?? [];
  const [type = '', content] = Object.entries(response?.content ?? {})[0] ?? [];
  return { status, type, schema: content?.schema, example: content?.example };
}

/** The body of an operation's request; undefined if it has none. */
export function bodyOf({
  requestBody,
}: Operation): { readonly type: string; readonly schema: Schema | undefined; readonly example: unknown } | undefined {
  const [first] = Object.entries(requestBody?.content ?? {});
  return first && { type: first[0], schema: first[1].schema, example: first[1].example };
}

/** One row of the table of responses that are not the success: `code` is '' if there is none. */
export interface OtherResponse {
  readonly status: string;
  readonly code: string;
  readonly meaning: string;
}

/** The other responses, one row for each code of a status. */
export function otherResponses(operation: Operation): readonly OtherResponse[] {
  const success = successOf(operation).status;
  return Object.entries(operation.responses)
    .filter(([status]) => status !== success)
    .flatMap(([status, { description }]) =>
      description.split('\n\n').map((line) => {
        const [, code = '', meaning = line] = /^([A-Z_]+): (.*)$/s.exec(line) ?? [];
        return { status, code, meaning };
      }),
    );
}

/** The name of the component that a schema refers to; null for an inline schema. */
export function refName(schema: Schema): string | null {
  return schema.$ref?.split('/').at(-1) ?? null;
}

/** A schema in a few words: `string`, `SessionRecord[]`, `"live" | "auto"`. */
export function typeName(schema: Schema): string {
  const name = refName(schema);
  if (name !== null) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return either.map(typeName).join(' | ');
  if (schema.type === 'array') {
    const of = schema.items ? typeName(schema.items) : 'any';
    return of.includes(' | ') ? `(${of})[]` : `${of}[]`;
  }
  return [schema.type ?? 'any JSON'].flat().join(' | ');
}

/** The limits of a schema in words: `1 to 200 characters`, `at most 30 items`, `default 20`. */
export function limitsOf(schema: Schema): readonly string[] {
  const { minimum, exclusiveMinimum, maximum, format, pattern } = schema;
  const least = minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  return [
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'items'),
    range(least, most, ''),
    exclusiveMinimum === undefined ? '' : `more than ${exclusiveMinimum}`,
    format ?? '',
    // The pattern of a format is long and says no more than its name.
    pattern === undefined || format !== undefined ? '' : `matches ${pattern}`,
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
  ].filter((text) => text !== '');
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const numbers =
    least === undefined
      ? most === undefined
        ? ''
        : `at most ${most}`
      : most === undefined
        ? `at least ${least}`
        : least === most
          ? `exactly ${least}`
          : `${least} to ${most}`;
  return numbers === '' || unit === '' ? numbers : `${numbers} ${unit}`;
}
