// Writes the tables of docs/playwright.md from the one that the service uses. After `npm run build`.
import { readFileSync, writeFileSync } from 'node:fs';
import { playwrightTables } from '../dist/agent-js/playwright-api/docs.js';

const file = new URL('../docs/playwright.md', import.meta.url);
const [before, , after] = readFileSync(file, 'utf8').split(/<!-- (?:tables|end) -->/);
writeFileSync(file, `${before}<!-- tables -->\n\n${playwrightTables()}\n\n<!-- end -->${after}`);
