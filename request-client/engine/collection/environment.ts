import { basename } from 'node:path';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { EnvironmentRow } from '../../protocol/request-window.js';
import { changeValue } from './change-value.js';
import { asObject, type JsonObject, listOf, member, textOf } from './json-access.js';

/**
 * A Postman environment, or a plain JSON object of names and values, as the text of its file: an edit keeps the text of
 * everything else. Immutable.
 */
export class Environment {
  readonly text: string;
  readonly rows: readonly EnvironmentRow[];
  readonly #root: JsonObject;

  private constructor(text: string, root: JsonObject) {
    this.text = text;
    this.#root = root;
    this.rows = this.plain ? plainRows(root) : listOf(root.values).map(rowOf);
  }

  /** @throws INVALID_REQUEST if it is neither */
  static parse(text: string): Environment {
    const root = asObject(parsed(text));
    if (root === undefined) throw new TroupeError('INVALID_REQUEST', 'The environment is not a JSON object');
    return new Environment(text, root);
  }

  /** An empty environment in Postman's form. */
  static create(name: string, id: string): Environment {
    const root = { id, name, values: [], _postman_variable_scope: 'environment' };
    return Environment.parse(`${JSON.stringify(root, null, '\t')}\n`);
  }

  /** Rows can be neither disabled nor secret. */
  get plain(): boolean {
    return !Array.isArray(this.#root.values);
  }

  /** @param path of the file, for environments without a name of their own */
  name(path: string): string {
    const own = this.plain ? undefined : textOf(this.#root.name);
    return own ?? basename(path).replace(/(?:\.postman_environment|\.environment)?\.json$/i, '');
  }

  /** The enabled values. */
  get values(): Map<string, string> {
    return new Map(this.rows.filter(({ enabled }) => enabled).map(({ name, value }) => [name, value]));
  }

  withRows(rows: readonly EnvironmentRow[]): Environment {
    const root = this.#root;
    const text = this.plain
      ? changeValue(this.text, root, [], plainObject(root, rows))
      : changeValue(this.text, root.values, ['values'], valuesList(listOf(root.values), rows));
    return text === this.text ? this : Environment.parse(text);
  }
}

function plainRows(root: JsonObject): EnvironmentRow[] {
  return Object.entries(root).flatMap(([name, value]) => {
    const own = textOf(value);
    return own === undefined ? [] : [{ name, value: own, enabled: true, secret: false }];
  });
}

/** Values that are not strings, and unchanged ones, are kept as they are. */
function plainObject(root: JsonObject, rows: readonly EnvironmentRow[]): JsonObject {
  const kept = Object.entries(root).filter(
    ([name, value]) => textOf(value) === undefined || rows.some((row) => row.name === name),
  );
  const made: Record<string, unknown> = Object.fromEntries(kept);
  for (const { name, value } of rows) if (name !== '' && textOf(made[name]) !== value) made[name] = value;
  return made;
}

function rowOf(entry: unknown): EnvironmentRow {
  return {
    name: textOf(member(entry, 'key')) ?? '',
    value: textOf(member(entry, 'value')) ?? '',
    enabled: member(entry, 'enabled') !== false && member(entry, 'disabled') !== true,
    secret: member(entry, 'type') === 'secret',
  };
}

/** Entries keep their other members: those of the entry at the same position, else of the first with the same name. */
function valuesList(old: readonly unknown[], rows: readonly EnvironmentRow[]): JsonObject[] {
  const free = new Set(old.keys());
  const named = (index: number, name: string): boolean => free.has(index) && member(old[index], 'key') === name;
  return rows.map(({ name, value, enabled, secret }, index) => {
    const found = named(index, name) ? index : [...free].find((at) => named(at, name));
    if (found !== undefined) free.delete(found);
    const entry = found === undefined ? {} : (asObject(old[found]) ?? {});
    const before = found === undefined ? null : rowOf(entry);
    return {
      ...entry,
      key: name,
      ...(before?.value === value ? {} : { value }),
      ...(before?.secret === secret ? {} : { type: secret ? 'secret' : 'default' }),
      ...(before?.enabled === enabled ? {} : { enabled }),
    };
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TroupeError('INVALID_REQUEST', `The environment is not valid JSON: ${why}`, undefined, { cause });
  }
}
