import { parse, stringify } from 'yaml';

/**
 * The value of a YAML document (version 1.2, so that `no` is a text). Bundled with the package that reads it.
 * @throws Error with line and column
 */
export function parseYaml(text: string): unknown {
  // Aliases are resolved at most 100 times: a small file could otherwise become gigabytes.
  return parse(text, { maxAliasCount: 100, logLevel: 'error' });
}

/** Texts of several lines are written as blocks; others are never folded. */
export function writeYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
