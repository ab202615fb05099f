// Writes docs/cli.md and the table of docs/configuration.md, from the tables of commands and keys: `npm run build && npm run docs`.
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import * as help from '../dist/cli/help.js';
import { CONFIG_KEYS } from '../dist/config/config-keys.js';
import { ConfigFile } from '../dist/config.js';
import { ALL_COMMANDS } from '../dist/terminal/commands/all-commands.js';
import { commandPage, configurationPage } from './support/reference-pages.mjs';

const docs = new URL('../docs/', import.meta.url);
await writeFile(new URL('cli.md', docs), commandPage(ALL_COMMANDS, help));

const file = new URL('configuration.md', docs);
const schema = z.toJSONSchema(ConfigFile, { io: 'input', unrepresentable: 'any' });
await writeFile(file, configurationPage(await readFile(file, 'utf8'), { texts: CONFIG_KEYS, schema }));
