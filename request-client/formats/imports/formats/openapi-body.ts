import { asObject, type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import { entry, languageOf, rawBody } from '../collection-items.js';
import type { Findings } from '../findings.js';
import { exampleOf } from './openapi-example.js';
import type { References } from './openapi-references.js';

interface OpenApiBody {
  readonly body: JsonObject | null;
  /** Null if the kind of body gives the header. */
  readonly contentType: string | null;
}

const NONE: OpenApiBody = { body: null, contentType: null };

/** The body of an operation, filled with examples. Of several media types, JSON is preferred. */
export function openApiBody(
  operation: unknown,
  root: unknown,
  parameters: readonly unknown[],
  references: References,
  place: string,
  findings: Findings,
): OpenApiBody {
  if (member(root, 'swagger') !== undefined) return swaggerBody(operation, root, parameters, references);
  const content = asObject(member(references.resolve(member(operation, 'requestBody')), 'content')) ?? {};
  const types = Object.keys(content);
  const type = types.find((one) => /[/+]json\b/i.test(one)) ?? types[0];
  if (type === undefined) return NONE;
  if (types.length > 1) findings.note(place, 'content', `Of several media types, ${type} is imported`);
  const media = content[type];
  const schema = member(media, 'schema');
  const [first] = Object.values(asObject(member(media, 'examples')) ?? {});
  const example =
    member(media, 'example') ?? member(references.resolve(first), 'value') ?? exampleOf(schema, references);
  return bodyOf(type, example, (name) => {
    const property = references.resolve(member(member(references.resolve(schema), 'properties'), name));
    return (
      /^(?:binary|base64)$/.test(textOf(member(property, 'format')) ?? '') ||
      member(property, 'contentMediaType') !== undefined
    );
  });
}

function swaggerBody(
  operation: unknown,
  root: unknown,
  parameters: readonly unknown[],
  references: References,
): OpenApiBody {
  const consumes = [...listOf(member(operation, 'consumes')), ...listOf(member(root, 'consumes'))].map(String);
  const inBody = parameters.find((parameter) => member(parameter, 'in') === 'body');
  if (inBody !== undefined) {
    const type = consumes.find((one) => /[/+]json\b/i.test(one)) ?? consumes[0] ?? 'application/json';
    return bodyOf(type, exampleOf(member(inBody, 'schema'), references), () => false);
  }
  const fields = parameters.filter((parameter) => member(parameter, 'in') === 'formData');
  if (fields.length === 0) return NONE;
  const isFile = (name: string): boolean =>
    fields.some((field) => member(field, 'name') === name && member(field, 'type') === 'file');
  const multipart =
    consumes.some((one) => one.startsWith('multipart/')) || fields.some((field) => member(field, 'type') === 'file');
  const example = Object.fromEntries(
    fields.map((field) => [textOf(member(field, 'name')) ?? '', exampleOf(field, references)]),
  );
  return bodyOf(multipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded', example, isFile);
}

function bodyOf(type: string, example: unknown, isFile: (name: string) => boolean): OpenApiBody {
  const rows = Object.entries(asObject(example) ?? {}).map(([name, value]) => ({
    name,
    value: textOf(value) ?? (value === null ? '' : JSON.stringify(value)),
    enabled: true,
  }));
  if (type.startsWith('application/x-www-form-urlencoded'))
    return { body: { mode: 'urlencoded', urlencoded: rows.map(entry) }, contentType: null };
  if (type.startsWith('multipart/')) {
    const formdata = rows.map((row) => {
      const { value, ...rest } = entry(row);
      return isFile(row.name) ? { ...rest, type: 'file', src: '' } : { ...rest, type: 'text', value };
    });
    return { body: { mode: 'formdata', formdata }, contentType: null };
  }
  const language = languageOf(type);
  if (language === 'json')
    return {
      body: rawBody(typeof example === 'string' ? example : JSON.stringify(example, null, 2), language),
      contentType: type,
    };
  if (/^(?:image|audio|video)\/|octet-stream|pdf|zip/.test(type))
    return { body: { mode: 'file', file: { src: '' } }, contentType: type };
  return { body: rawBody(textOf(example) ?? '', language), contentType: type.includes('*') ? null : type };
}
