import type { ImportedVariable } from '../../../curl/import/import-curl.js';
import { asObject, member, textOf } from '../../../engine/collection/json-access.js';
import type { Findings } from '../findings.js';
import type { ImportedEnvironment } from '../imported.js';
import { templated } from './insomnia-request.js';

/** The variables of an Insomnia environment. Nested objects have names with dots, as templates write them. */
export function insomniaVariables(data: unknown, place: string, findings: Findings): ImportedVariable[] {
  const made: ImportedVariable[] = [];
  const visit = (value: unknown, name: string): void => {
    const object = asObject(value);
    if (object !== undefined) {
      for (const [key, below] of Object.entries(object)) visit(below, name === '' ? key : `${name}.${key}`);
      return;
    }
    const text = textOf(value) ?? (value === null ? '' : JSON.stringify(value));
    made.push({ name, value: templated(text, place, findings) });
  };
  if (asObject(data) !== undefined) visit(data, '');
  return made;
}

export function insomniaEnvironment(value: unknown, findings: Findings): ImportedEnvironment {
  const name = textOf(member(value, 'name')) ?? 'Insomnia environment';
  const rows = insomniaVariables(member(value, 'data'), name, findings);
  return { name, rows: rows.map((row) => ({ ...row, enabled: true, secret: false })) };
}
