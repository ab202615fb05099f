import type { KeyText } from '../../src/config/config-keys.js';
import type { Command, Option } from '../../src/terminal/commands/command.js';

interface Help {
  usageOf(command: Command): readonly string[];
  shownOptions(command: Command): readonly (readonly [name: string, option: Option])[];
  groupsOf(
    options: readonly (readonly [name: string, option: Option])[],
  ): readonly (readonly [group: string, options: readonly (readonly [name: string, option: Option])[]])[];
  spelledOption(name: string, option: Option): string;
  optionText(option: Option): string;
}

/** docs/cli.md. */
export function commandPage(commands: readonly Command[], help: Help): string;

/** The keys of a JSON schema that can be set, with dots between the parts of nested ones, and their defaults. */
export function keysOf(schema: unknown): ReadonlyMap<string, unknown>;

/** The page with the table of keys written anew, between its markers. */
export function configurationPage(
  page: string,
  source: {
    readonly texts: { readonly [key: string]: KeyText };
    readonly schema: unknown;
  },
): string;
