import { TroupeError } from '#troupe/protocol/errors.js';
import { asObject, member, textOf } from '../../engine/collection/json-access.js';
import type { ImportFormat } from './imported.js';
import { parseYaml } from './yaml-text.js';

/** The format of a text, and its value if the format is JSON or YAML. */
export interface Detected {
  readonly format: ImportFormat;
  readonly value: unknown;
}

const BRU_BLOCK =
  /^(?:meta|get|post|put|patch|delete|head|options|trace|connect|http|headers|params:\w+|auth(?::\w+)?|body(?::[\w-]+)?|vars(?::[\w-]+)?|script:[\w-]+|tests|assert|docs|settings)\s*\{\s*$/;
/** `[user@host folder]$ ` before a command. */
const PROMPT = /^\s*\[[^\]\n"']*\][ \t]?[$#%>][ \t]/;
const YAML_START = /^(?:openapi|swagger|_?type|schema_version|name|info|opencollection)["']?\s*:/;

/**
 * Recognizes the format of a pasted or opened text by its content. Text that is none of the others counts as curl.
 * @throws INVALID_REQUEST for broken JSON or YAML, and for JSON of an unknown kind
 */
export function detectFormat(text: string): Detected {
  const own = text.replace(/^\uFEFF/, '');
  const [first = ''] = own.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  if (BRU_BLOCK.test(first)) return { format: 'bru', value: null };
  if (/^\s*[{[]/.test(own) && !PROMPT.test(own)) return detectValue(parsed(own, JSON.parse, 'JSON'));
  if (/^(?:\/\/[^\n]*\n|\s)*(?:(?:(?:const|let|var)\s+[\w${},\s]+?=|return|await|void)\s*)*fetch\s*\(/.test(own))
    return { format: 'fetch', value: null };
  if (/^(?:---|%YAML)/.test(first) || YAML_START.test(first)) return detectValue(parsed(own, parseYaml, 'YAML'));
  return { format: 'curl', value: null };
}

function detectValue(value: unknown): Detected {
  const format = formatOf(value);
  if (format === null) {
    throw new TroupeError(
      'INVALID_REQUEST',
      'The text is JSON or YAML of an unknown kind; it can be HAR, OpenAPI 3, Swagger 2, Insomnia 4 or 5, Bruno, or ' +
        'a Postman collection or environment',
    );
  }
  return { format, value: format === 'postman2' ? unwrapped(value) : value };
}

function formatOf(value: unknown): ImportFormat | null {
  const has = (key: string): boolean => member(value, key) !== undefined;
  const lists = (key: string): boolean => Array.isArray(member(value, key));
  if (Array.isArray(member(member(value, 'log'), 'entries'))) return 'har';
  if (/^3\./.test(textOf(member(value, 'openapi')) ?? '')) return 'openapi3';
  if (/^2\b/.test(textOf(member(value, 'swagger')) ?? '')) return 'swagger2';
  if (lists('resources') && (member(value, '_type') === 'export' || has('__export_format'))) return 'insomnia4';
  if (/insomnia\.rest\/5\.\d+$/.test(textOf(member(value, 'type')) ?? '')) return 'insomnia5';
  const collection = unwrapped(value);
  if (Array.isArray(member(collection, 'item')) && asObject(member(collection, 'info')) !== undefined)
    return 'postman2';
  if (lists('requests') && (has('order') || has('folders') || has('name'))) return 'postman1';
  if (lists('collections') && has('version')) return 'postman1';
  if (lists('values') && (has('name') || has('_postman_variable_scope'))) return 'postman-environment';
  if (lists('items') && (has('brunoConfig') || textOf(member(value, 'version')) === '1')) return 'bruno';
  return null;
}

/** Postman's API wraps a collection, or an environment, in an object. */
function unwrapped(value: unknown): unknown {
  return member(value, 'collection') ?? value;
}

function parsed(text: string, parse: (text: string) => unknown, kind: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new TroupeError('INVALID_REQUEST', `The text begins as ${kind}, but is not valid: ${why}`, undefined, {
      cause,
    });
  }
}
