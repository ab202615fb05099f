import { readFileSync } from 'node:fs';
import t from 'tap';
import { z } from 'zod';
import { SESSION_META_KEY } from '#troupe/gateway/mcp/mcp-revisions.js';
import { agentManifests } from '../../scripts/support/agent-manifests.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const Package = z.object({
  mcpName: z.string(),
  name: z.string(),
  version: z.string(),
  license: z.string(),
  files: z.array(z.string()),
});

const Described = z.object({ description: z.string() });

t.test('The manifests for registries and agents are those of this version', (t) => {
  const pkg = Package.parse(JSON.parse(readFileSync('package.json', 'utf8')));
  const manifests = agentManifests(pkg);
  t.same(
    Object.fromEntries(Object.keys(manifests).map((path) => [path, JSON.parse(readFileSync(path, 'utf8'))])),
    manifests,
  );
  t.ok(SESSION_META_KEY.startsWith(`${pkg.mcpName.split('/')[0]}/`), 'results are named by the same scope');
  for (const { description } of [manifests['server.json']].map((entry) => Described.parse(entry)))
    t.ok(description.length <= 100, 'registries take no longer one');
  for (const path of ['.claude-plugin', 'gemini-extension.json'])
    t.ok(pkg.files.includes(path), `${path} is published`);
  t.end();
});
