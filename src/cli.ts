#!/usr/bin/env node
import { main } from './cli/main.js';

// A reader that has enough, as in `troupe setup | head -1`, is no fault: what is left to say goes unsaid.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await main(process.argv.slice(2));
