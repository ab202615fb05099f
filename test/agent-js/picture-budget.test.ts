import t from 'tap';
import { PictureBudget, paceWithin } from '#troupe/agent-js/pictures/picture-budget.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const THUMBNAIL = { wantsMs: 1_000, megapixels: 0.06 };
const PAGE = { wantsMs: 66, megapixels: 1 };

/** The cost per second of the pictures of all pages and thumbnails at this interval. */
function spent(paceMs: number, all: readonly (typeof PAGE)[]): number {
  return (
    all.reduce((sum, { wantsMs, megapixels }) => sum + (5 + 15 * megapixels) / Math.max(wantsMs, paceMs), 0) * 1_000
  );
}

t.test('All pictures together stay within the budget, and use it up', async (t) => {
  const walls = [
    Array.from({ length: 20 }, () => PAGE),
    Array.from({ length: 100 }, () => THUMBNAIL),
    [...Array.from({ length: 19 }, () => THUMBNAIL), PAGE, PAGE],
  ];
  for (const all of walls) t.ok(Math.abs(spent(paceWithin(all, 200), all) - 200) < 1, `${paceWithin(all, 200)} ms`);
});

t.test('A session that wants few pictures gets them, and leaves the rest to the others', async (t) => {
  const all = [...Array.from({ length: 19 }, () => THUMBNAIL), PAGE];
  const pace = paceWithin(all, 200);
  t.ok(pace < 300, `a page has a picture each ${pace} ms beside nineteen thumbnails`);
  t.equal(paceWithin([THUMBNAIL], 200), 0, 'one alone is not held back');
});

t.test('A single screen, and one under control, wait for no other', async (t) => {
  const budget = new PictureBudget();
  const page = { ...PAGE, megapixels: 100, isQuiet: false, isControlled: false };
  const quiet = { ...page, isQuiet: true };
  budget.join(page);
  budget.join(quiet);
  t.equal(budget.paceOf(page), 66, 'what stays as it is costs nothing');
  const other = { ...page };
  const held = { ...page, isControlled: true };
  budget.join(other);
  budget.join(held);
  t.ok(budget.paceOf(page) > 66);
  t.equal(budget.paceOf(held), 66);
  budget.leave(other);
  t.equal(budget.paceOf(page), 66);
});
