import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openAgent, openBrowser } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { libraryNames, openLibraries } from '../support/library-corpus.js';
import { installLibraries } from '../support/library-install.js';
import { LibraryJudge, type Verdict } from '../support/library-judge.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

const isProof = process.env.TROUPE_PROOF === 'libraries';
/** Of all together, in the proof. */
const BOUNDS = { recall: 0.995, precision: 0.99, done: 0.98 };

const only = process.env.TROUPE_LIBRARIES?.split(',');
const names = only ?? sampled(libraryNames(), { proof: 'libraries', name: 'libraries', count: 3 });
const SETTINGS = isProof
  ? [
      { what: '1280 x 720', viewport: { width: 1280, height: 720 }, below: false },
      { what: '800 x 600', viewport: { width: 800, height: 600 }, below: false },
      { what: '1280 x 720, below the fold', viewport: { width: 1280, height: 720 }, below: true },
    ]
  : [{ what: '1280 x 720', viewport: { width: 1280, height: 720 }, below: false }];

const missing = await installLibraries();

t.test('look names the controls of published libraries, and act does what is asked of them', { skip: missing }, async (t) => {
  const lease = await openBrowser(t);
  writeFileSync(join(lease.endpoint.uploadsDir, 'corpus.txt'), 'hello');
  const pages = await openLibraries(t, names);
  const only = process.env.TROUPE_SETTING;
  for (const { what, viewport, below } of SETTINGS.filter((_, index) => only === undefined || only === String(index))) {
    const fixture = await openAgent(t, lease, { options: { viewport }, actMs: 4_000, policy: 'spare' });
    const judge = new LibraryJudge(t, fixture);
    const verdicts: Verdict[] = [];
    for (const page of pages) {
      const verdict = await judge.judge(page, below);
      verdicts.push(verdict);
      const { sought, found, listed, superfluous, gestures, done } = verdict;
      t.comment(`${what} | ${page.name}: found ${found}/${sought}, superfluous ${superfluous}/${listed}, done ${done}/${gestures}`);
      for (const { label, kind, reason } of verdict.misses) t.comment(`  ${page.name} | ${label} | ${kind}: ${reason}`);
    }
    const sum = (count: (one: Verdict) => number): number => verdicts.reduce((total, one) => total + count(one), 0);
    const recall = sum(({ found }) => found) / sum(({ sought }) => sought);
    const precision = 1 - sum(({ superfluous }) => superfluous) / sum(({ listed }) => listed);
    const done = sum((one) => one.done) / sum(({ gestures }) => gestures);
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
    t.comment(`${what}: recall ${percent(recall)}, precision ${percent(precision)}, done ${percent(done)}`);
    t.ok(recall >= BOUNDS.recall, `${what}: recall`);
    t.ok(precision >= BOUNDS.precision, `${what}: precision`);
    t.ok(done >= BOUNDS.done, `${what}: gestures done`);
  }
});

t.end();
