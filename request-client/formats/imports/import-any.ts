import { assertNever } from '#troupe/base/assert-never.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { importCurl } from '../../curl/import/import-curl.js';
import { writeItem } from '../../engine/collection/write-request.js';
import { type Detected, detectFormat } from './detect-format.js';
import { Findings } from './findings.js';
import { readBruFile } from './formats/bru-file.js';
import { readBrunoExport } from './formats/bruno-export.js';
import { readFetchCalls } from './formats/fetch-calls.js';
import { readHar } from './formats/har.js';
import { readInsomnia4 } from './formats/insomnia-4.js';
import { readInsomnia5 } from './formats/insomnia-5.js';
import { readOpenApi } from './formats/openapi.js';
import { readPostman1 } from './formats/postman-1.js';
import { readPostman2 } from './formats/postman-2.js';
import { readPostmanEnvironment } from './formats/postman-environment.js';
import type { Imported, ImportedContent } from './imported.js';

const MAX_DEPTH = 500;

/**
 * Imports a text of any known format. Never throws: what cannot be read is an error, and what is left out a warning.
 * Reads nothing but the text: references to files and addresses are named in warnings and not followed.
 */
export function importAny(text: string): Imported {
  let detected: Detected;
  try {
    detected = detectFormat(text);
    if (detected.format === 'curl') return importedCurl(text);
    checkDepth(detected.value);
  } catch (error) {
    return failed(null, text, error);
  }
  const findings = new Findings();
  try {
    const content = read(detected, text, findings);
    if (content.items.length === 0 && content.environments.length === 0)
      throw new TroupeError('INVALID_REQUEST', 'There is no request in the text');
    return { format: detected.format, ...content, warnings: findings.warnings, errors: [], failed: '' };
  } catch (error) {
    return { ...failed(detected.format, text, error), warnings: findings.warnings };
  }
}

function read({ format, value }: Detected, text: string, findings: Findings): ImportedContent {
  switch (format) {
    case 'har':
      return readHar(value, findings);
    case 'openapi3':
    case 'swagger2':
      return readOpenApi(value, findings);
    case 'insomnia4':
      return readInsomnia4(value, findings);
    case 'insomnia5':
      return readInsomnia5(value, findings);
    case 'bru':
      return readBruFile(text, findings);
    case 'bruno':
      return readBrunoExport(value, findings);
    case 'postman1':
      return readPostman1(value, findings);
    case 'postman2':
      return readPostman2(value, findings);
    case 'postman-environment':
      return readPostmanEnvironment(value);
    case 'fetch':
      return readFetchCalls(text, findings);
    case 'curl':
      throw new TroupeError('INTERNAL', 'curl commands have an importer of their own');
    default:
      return assertNever(format);
  }
}

function importedCurl(text: string): Imported {
  const { requests, variables, warnings, errors, failed: left } = importCurl(text);
  return {
    format: 'curl',
    items: requests.map(writeItem),
    variables,
    environments: [],
    warnings,
    errors,
    failed: left,
  };
}

function failed(format: Imported['format'], text: string, error: unknown): Imported {
  const message = error instanceof Error ? error.message : String(error);
  const fault = { message, line: 1, column: 1, excerpt: `${(text.split('\n')[0] ?? '').slice(0, 76)}\n^` };
  return { format, items: [], variables: [], environments: [], warnings: [], errors: [fault], failed: text };
}

/** The readers are recursive, and aliases of YAML can make a cycle. @throws INVALID_REQUEST */
function checkDepth(value: unknown): void {
  const stack: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (typeof at.value !== 'object' || at.value === null) continue;
    const depth = at.depth + 1;
    if (depth > MAX_DEPTH) throw new TroupeError('INVALID_REQUEST', `The text is nested more than ${MAX_DEPTH} deep`);
    for (const below of Object.values(at.value)) stack.push({ value: below, depth });
  }
}
