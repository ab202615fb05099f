// Before `npm publish` of the checkout, which would publish a package without npm-shrinkwrap.json: see postpack.mjs.
console.error('Run npm pack, then npm publish ./*troupe-*.tgz: only npm pack adds npm-shrinkwrap.json to the package.');
process.exitCode = 1;
