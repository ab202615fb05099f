// After `npm pack`: the lock file of a checkout is package-lock.json alone.
import { rmSync } from 'node:fs';

rmSync('npm-shrinkwrap.json', { force: true });
