import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { scriptTypes } from '../../agent-js/script-api.js';
import { TYPES } from '../../terminal/commands/run-commands.js';
import { print } from '../../terminal/output.js';
import { parseOptions } from '../../terminal/parse-options.js';
import { pathFrom } from './flow-failure.js';

const FILE = 'troupe.d.ts';

/**
 * `troupe types [--flows DIR]`: writes the types of flows for editors and `tsc`. Writes no settings: it prints those that
 * a folder without `tsconfig.json` needs.
 */
export async function runTypes(args: readonly string[]): Promise<number> {
  const { flows } = parseOptions(args, TYPES);
  const cwd = process.cwd();
  const folder = resolve(cwd, flows ?? 'flows');
  await mkdir(folder, { recursive: true });
  const file = join(folder, FILE);
  await writeFile(file, scriptTypes());
  print(`Wrote ${pathFrom(cwd, file)}\n`);
  const settings = [folder, dirname(folder)].map((place) => join(place, 'tsconfig.json'));
  const known = settings.find((place) => existsSync(place));
  print(
    known === undefined
      ? `For editors and tsc, write this to ${pathFrom(cwd, join(folder, 'tsconfig.json'))}:\n${FLOWS_TSCONFIG}`
      : `${pathFrom(cwd, known)} must include it, with these compilerOptions:\n${FLOWS_TSCONFIG}`,
  );
  return 0;
}

/**
 * Flows share one folder but no scope, and their types must be removable. They are JavaScript: nothing says what their
 * arguments are. They may await at their top level.
 */
export const FLOWS_TSCONFIG = `{
  "compilerOptions": {
    "allowJs": true,
    "checkJs": true,
    "strict": true,
    "noImplicitAny": false,
    "noEmit": true,
    "target": "es2023",
    "module": "preserve",
    "lib": ["es2023"],
    "types": [],
    "moduleDetection": "force",
    "erasableSyntaxOnly": true
  },
  "include": ["**/*"]
}
`;
