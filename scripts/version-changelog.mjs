// Part of `npm version`: what is under "Unreleased" in CHANGELOG.md gets the new version and today's date as its heading.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const text = readFileSync('CHANGELOG.md', 'utf8');
if (!text.includes('\n## Unreleased\n')) {
  console.error('CHANGELOG.md has no section "Unreleased"; write what is new in this version, then try again');
  process.exit(1);
}
const today = new Date().toISOString().slice(0, 10);
writeFileSync('CHANGELOG.md', text.replace('\n## Unreleased\n', `\n## ${version} (${today})\n`));
// The entry for registries of MCP servers names the version twice.
const entry = JSON.parse(readFileSync('server.json', 'utf8'));
const packages = entry.packages.map((one) => ({ ...one, version }));
writeFileSync('server.json', `${JSON.stringify({ ...entry, version, packages }, null, 2)}\n`);
