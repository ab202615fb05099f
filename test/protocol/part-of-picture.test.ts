import t from 'tap';
import { partOfPicture } from '#troupe/protocol/report/part-of-picture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const viewport = { viewportWidth: 1000, viewportHeight: 500 };

t.test('An element has the same part of a picture as of the viewport, without what is outside of it', async (t) => {
  const within = { x: 100, y: 50, width: 200, height: 100, ...viewport };
  t.same(partOfPicture(within), { left: 10, top: 10, width: 20, height: 20 });
  const across = { x: -50, y: 450, width: 100, height: 100, ...viewport };
  t.same(partOfPicture(across), { left: 0, top: 90, width: 5, height: 10 });
});

t.test('An element that the viewport does not show has no part of the picture', async (t) => {
  for (const [x, y] of [
    [-200, 0],
    [1000, 0],
    [0, 500],
    [0, -100],
  ] as const)
    t.equal(partOfPicture({ x, y, width: 200, height: 100, ...viewport }), null, `${x}, ${y}`);
  t.equal(partOfPicture({ x: 10, y: 10, width: 0, height: 0, ...viewport }), null);
});
