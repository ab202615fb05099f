import { z } from 'zod';
import { EVENT_DATA } from '../../protocol/events.js';
import { Report } from '../../protocol/report/report.js';

/** A JSON Schema (2020-12). */
type JsonSchema = { readonly [keyword: string]: unknown };

const numbered = { seq: z.int(), at: z.iso.datetime() };

/** One schema for each type of event, with the members that `of` gives it. */
function eventsWith(of: (type: string, data: z.ZodType) => z.ZodType): z.ZodType {
  return z.union(Object.entries(EVENT_DATA).map(([type, data]) => of(type, data)));
}

/** What is published, by file name. Further members are allowed, because later versions add some. */
const PUBLISHED: { readonly [file: string]: { readonly title: string; readonly schema: z.ZodType } } = {
  'report.schema.json': { title: 'report.json of a session', schema: Report },
  'transcript.schema.json': {
    title: 'A line of transcript.jsonl',
    schema: eventsWith((type, data) => z.object({ ...numbered, type: z.literal(type), data })),
  },
  'event.schema.json': {
    title: 'The data of a server-sent event',
    schema: eventsWith((type, data) => z.object({ sessionId: z.string(), ...numbered, type: z.literal(type), data })),
  },
};

/** The JSON schemas in `schemas/` of the package, by file name: what `npm run schemas` writes. */
export function publishedSchemas(): { readonly [file: string]: JsonSchema } {
  return Object.fromEntries(
    Object.entries(PUBLISHED).map(([file, { title, schema }]) => {
      // `input`: without `additionalProperties: false`.
      const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      return [file, { $schema, title: `Troupe: ${title}`, ...rest }];
    }),
  );
}
