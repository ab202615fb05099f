// `npm run setup`: `troupe setup` from a fresh clone. Words after `--` go to it.
import { prepare } from './prepare.mjs';

await prepare();
const { main } = await import('../dist/cli/main.js');
process.exitCode = await main(['setup', ...process.argv.slice(2)]);
