// Before `npm pack`: builds. `postpack.mjs` completes the package.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { prepare } from './prepare.mjs';

// Files of sources that are gone must not be in the package.
rmSync('dist', { recursive: true, force: true });
await prepare({ tests: true });
// The types of the client library: the build does without a compiler, which npm start does not install.
const types = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.client.json'], {
  stdio: 'inherit',
});
if (types.status !== 0) process.exit(1);
