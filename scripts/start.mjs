// `npm start`: everything from a fresh clone to a running service. Words after `--` go to `troupe dashboard`.
import { prepare } from './prepare.mjs';

await prepare();
const { main } = await import('../dist/cli/main.js');
process.exitCode = await main(['setup', '--brief']);
if (process.exitCode === 0) process.exitCode = await main(['dashboard', ...process.argv.slice(2)]);
