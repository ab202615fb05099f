// Lets Node run the TypeScript of test/, with esbuild, given with --import before a test file. The loader that tap brings
// loads the whole compiler for each file: 2.1 s of processor time against 0.35 s.
import { register } from 'node:module';
import processOnSpawn from 'process-on-spawn';

register('./test-loader-hooks.mjs', import.meta.url);

// tap measures coverage in threads and child processes through NODE_OPTIONS. Nothing is measured here, and each thread of
// a service would load all of tap: 0.1 s of processor time, and files left open where it is terminated meanwhile.
delete process.env.NODE_OPTIONS;
processOnSpawn.removeAllListeners();
