// `npm start`: everything from a fresh clone to a running service. Words after `--` go to `troupe dashboard`.
import { copyExampleFlows, prepare } from './prepare.mjs';

prepare();
copyExampleFlows();
const { main } = await import('../dist/cli/main.js');
process.exitCode = await main(['setup', '--brief']);
if (process.exitCode === 0) process.exitCode = await main(['dashboard', ...process.argv.slice(2)]);
