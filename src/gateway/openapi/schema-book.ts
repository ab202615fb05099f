import { z } from 'zod';
import { Health, ModelInfo, RemovedSession, RunAnswer, SessionFile } from '../../protocol/answers.js';
import { FlowNode } from '../../protocol/flow-tree.js';
import {
  AutoRequest,
  ErrorBodySchema,
  JobRequest,
  LiveRequest,
  ProxyRequest,
  RunRequest,
  SessionRecord,
} from '../../protocol/session.js';

/** A JSON object. */
export type JsonObject = { readonly [name: string]: unknown };

/** Schemas with a name of their own in the document. */
const NAMED = {
  Error: ErrorBodySchema,
  SessionRecord,
  LiveRequest,
  AutoRequest,
  RunRequest,
  JobRequest,
  ProxyRequest,
  RunAnswer,
  RemovedSession,
  SessionFile,
  Health,
  ModelInfo,
  FlowNode,
} as const;

/** Converts the schemas that validate requests into JSON Schema 2020-12, and collects the named ones. */
export class SchemaBook {
  readonly #names = z.registry<{ id: string }>();
  readonly #components = new Map<string, unknown>();

  constructor() {
    for (const [id, schema] of Object.entries(NAMED)) this.#names.add(schema, { id });
    this.of(ErrorBodySchema, 'output');
  }

  /** @param io for what clients send (`input`), or what they get (`output`) */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
    const text = JSON.stringify(z.toJSONSchema(schema, { metadata: this.#names, io, unrepresentable: 'any' }));
    const { $schema, $defs = {}, ...rest } = JSON.parse(text.replaceAll('#/$defs/', '#/components/schemas/'));
    for (const [name, component] of Object.entries(Object($defs))) {
      const { id, ...body } = Object(component);
      this.#components.set(name, body);
    }
    const { id, ...body } = rest;
    return body;
  }

  /** The named schemas that were used so far, by name. */
  components(): JsonObject {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => a.localeCompare(b)));
  }
}
