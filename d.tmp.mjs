import './scripts/test-loader.mjs';

const { byTroupe } = await import('./test/request-client/collection-run/beside-newman.ts');
const { EchoServer } = await import('./test/request-client/echo-server.ts');
const { COLLECTIONS } = await import('./bench/support/collection-corpus.mjs');
const s = await EchoServer.start();
const { CollectionRunner } = await import('#troupe/request-client/collection-run/collection-runner.js');
const c = COLLECTIONS.find((c) => c.info.name === 'Broken scripts');
let broke = '';
const run = CollectionRunner.prototype.run;
CollectionRunner.prototype.run = async function (...a) {
  const r = await run.apply(this, a);
  if (/broke its/.test(JSON.stringify([r.error, r.console]))) broke = r.path.join();
  return r;
};
for (const drop of [[], [0], [1], [2], [3], [0, 1], [2, 3], [0, 1, 2], [1, 2, 3]]) {
  broke = '';
  await byTroupe({
    collection: {
      ...c,
      item: c.item.filter((x, i) => !drop.includes(i)),
      variable: [{ key: 'base', value: s.origin }],
    },
  });
  console.log(drop, broke);
}
await s.close();
