import type { ImportedVariable, ImportFault, ImportWarning } from '../../curl/import/import-curl.js';
import type { JsonObject } from '../../engine/collection/json-access.js';
import type { EnvironmentRow } from '../../protocol/request-window.js';

/** The formats that can be imported, and how they are called in messages. */
export const IMPORT_FORMATS = {
  curl: 'curl',
  fetch: 'fetch',
  har: 'HAR',
  openapi3: 'OpenAPI 3',
  swagger2: 'Swagger 2',
  insomnia4: 'Insomnia 4',
  insomnia5: 'Insomnia 5',
  bru: 'Bruno (.bru)',
  bruno: 'Bruno',
  postman1: 'Postman v1',
  postman2: 'Postman v2',
  'postman-environment': 'Postman environment',
} as const;

export type ImportFormat = keyof typeof IMPORT_FORMATS;

/** A set of variables with a name, as a Postman environment has them. */
export interface ImportedEnvironment {
  readonly name: string;
  readonly rows: readonly EnvironmentRow[];
}

/** The content of an import, in whatever format it was: items of a v2.1 collection, and what belongs to them. */
export interface Imported {
  /** Null if it was not recognized. */
  readonly format: ImportFormat | null;
  readonly items: readonly JsonObject[];
  /** Variables of the collection. */
  readonly variables: readonly ImportedVariable[];
  readonly environments: readonly ImportedEnvironment[];
  readonly warnings: readonly ImportWarning[];
  readonly errors: readonly ImportFault[];
  /** The part of the text that was not imported. */
  readonly failed: string;
}

/** What a reader of one format returns; {@link Findings} collects its warnings. */
export interface ImportedContent {
  readonly items: readonly JsonObject[];
  readonly variables: readonly ImportedVariable[];
  readonly environments: readonly ImportedEnvironment[];
}

export const NOTHING: ImportedContent = { items: [], variables: [], environments: [] };
