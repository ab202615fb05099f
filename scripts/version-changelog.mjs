// Part of `npm version`: what is under "Unreleased" in CHANGELOG.md gets the new version and today's date as its heading,
// and the manifests for registries and agents are written.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { agentManifests } from './support/agent-manifests.mjs';

const pkg = JSON.parse(readFileSync('package.json', 'utf8'));
const { version } = pkg;
const text = readFileSync('CHANGELOG.md', 'utf8');
if (!text.includes('\n## Unreleased\n')) {
  console.error('CHANGELOG.md has no section "Unreleased"; write what is new in this version, then try again');
  process.exit(1);
}
const today = new Date().toISOString().slice(0, 10);
writeFileSync('CHANGELOG.md', text.replace('\n## Unreleased\n', `\n## ${version} (${today})\n`));
for (const [path, content] of Object.entries(agentManifests(pkg))) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}
