// `npm run nodes`: a few test files under every newer line of Node, where the service has its other HTTP server unless the
// binary of uWebSockets.js can be loaded. Each Node comes from the registry, once, into a cache outside of the checkout.
// Exit code 1 when a file failed.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';
import { cachedPackages } from './support/cached-packages.mjs';

const VERSIONS = ['22.23.3', '24.21.0', '26.10.0'];
/** One of every kind that touches what differs: parser and timers of node:http, threads, native SQLite, browsers. */
const FILES = [
  'test/gateway/http-servers.test.ts',
  'test/gateway/tunnel/tunnel-server.test.ts',
  'test/service/start.test.ts',
  'test/mcp/browser.test.ts',
  'test/dashboard/dashboard.test.ts',
];

await prepare({ tests: true });
const nodePackage = `node-${process.platform}-${process.arch}`;
let failures = 0;
for (const version of VERSIONS) {
  const node = cachedPackages(`node-${version}`, [`${nodePackage}@${version}`])(nodePackage, 'bin', 'node');
  const startedAt = Date.now();
  const { status } = spawnSync(node, ['node_modules/tap/dist/esm/run.mjs', '--reporter=terse', '--jobs=2', ...FILES], {
    cwd: dirname(dirname(fileURLToPath(import.meta.url))),
    stdio: 'inherit',
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  });
  console.log(
    `Node ${version}: ${status === 0 ? 'passed' : 'FAILED'} in ${Math.round((Date.now() - startedAt) / 1000)} s`,
  );
  if (status !== 0) failures += 1;
}
process.exit(failures === 0 ? 0 : 1);
