// `npm run troupe -- run ...`: any command of `troupe` from a fresh clone.
import { prepare } from './prepare.mjs';

await prepare();
await import('../dist/cli.js');
