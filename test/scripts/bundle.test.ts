import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { bundleManifest } from '../../scripts/support/bundle-manifest.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

t.test('The bundle starts the command of the package, on the system whose binaries are in it', async (t) => {
  const pack = read('package.json');
  const manifest = bundleManifest(pack, { platform: 'linux' });
  t.match(manifest, {
    manifest_version: '0.3',
    name: 'troupe',
    version: pack.version,
    compatibility: { platforms: ['linux'], runtimes: { node: pack.engines.node } },
  });
  const { entry_point: entry, mcp_config: config } = manifest.server;
  t.equal(entry, pack.bin.troupe);
  t.same(config.args, [`$\{__dirname}/${entry}`, 'mcp']);
  t.ok(existsSync(entry));
});
