import { call } from './api.js';

/** The displayed part of a JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
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

/** One method of one path. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly [status: string]: { readonly description: string; readonly content?: Content } };
}

/** The displayed part of `GET /api/openapi.json`. */
export interface ApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly [name: string]: Schema } };
}

export function apiDocument(): Promise<ApiDocument> {
  return call('GET', 'api/openapi.json');
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
  if (schema.type === 'array') return `${schema.items ? typeName(schema.items) : 'any'}[]`;
  return schema.type ?? 'any JSON';
}
