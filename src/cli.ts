#!/usr/bin/env node
// Nothing but this check and an import that comes after it: an old Node gets one sentence. So there is no static import and
// no top-level await in here, which Node 12 could not even read.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`troupe needs Node 20.19 or later; this is ${process.versions.node}. See https://nodejs.org\n`);
  process.exitCode = 1;
} else {
  void import('./cli/main.js').then(async ({ main }) => {
    process.exitCode = await main(process.argv.slice(2));
  });
}
