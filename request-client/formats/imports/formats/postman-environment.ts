import { listOf, member, textOf } from '../../../engine/collection/json-access.js';
import type { ImportedContent, ImportedEnvironment } from '../imported.js';

/** A Postman environment, or globals. */
export function readPostmanEnvironment(value: unknown): ImportedContent {
  return { items: [], variables: [], environments: [environmentOf(value)] };
}

export function environmentOf(value: unknown): ImportedEnvironment {
  const isGlobals = member(value, '_postman_variable_scope') === 'globals';
  return {
    name: textOf(member(value, 'name')) ?? (isGlobals ? 'Globals' : 'Imported'),
    rows: listOf(member(value, 'values')).flatMap((row) => {
      const name = textOf(member(row, 'key'));
      if (name === undefined) return [];
      const enabled = member(row, 'enabled') !== false && member(row, 'disabled') !== true;
      return [{ name, value: textOf(member(row, 'value')) ?? '', enabled, secret: member(row, 'type') === 'secret' }];
    }),
  };
}
