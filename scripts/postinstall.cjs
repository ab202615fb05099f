// Runs when an installed package is in place: deletes what other platforms need, as `troupe setup` does. Never fails an
// installation, and does nothing in a checkout that is not built, where `npm start` does it.
if (Number(process.versions.node.split('.')[0]) >= 20) {
  import('../dist/cli/setup/unused-binaries.js').then(
    (module) => module.removeUnusedBinaries().catch(() => undefined),
    () => undefined,
  );
}
