import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

/** Of all pixels: bars are as long as something took, and a clock goes on. */
const TOLERATED = 0.03;

/**
 * How pictures differ from those of the documentation.
 *
 * @param known what `pictures.json` says of those in `folder`; `now` the same of those in `other`
 * @returns a sentence for each difference, and whether pixels were compared, too
 */
export async function differencesOf(folder, known, other, now) {
  const pixels = JSON.stringify(known.madeWith) === JSON.stringify(now.madeWith);
  const differences = [];
  for (const name of new Set([...Object.keys(known.pictures), ...Object.keys(now.pictures)])) {
    const [before, after] = [known.pictures[name], now.pictures[name]];
    if (before === undefined || after === undefined) {
      differences.push(`${name}: ${after === undefined ? 'is no longer made' : 'is new'}`);
      continue;
    }
    const lines = linesThatDiffer(before, after);
    if (lines !== null) differences.push(`${name}: ${lines}`);
    const share = pixels ? await shareOfOtherPixels(join(folder, `${name}.png`), join(other, `${name}.png`)) : 0;
    if (share > TOLERATED) differences.push(`${name}: ${(share * 100).toFixed(1)} % of its pixels differ`);
  }
  return { differences, pixels };
}

/** Neither their order counts, as now one flow is faster, now another, nor how often a time is on the picture. */
function linesThatDiffer(before, after) {
  const gone = before.find((line) => !after.includes(line));
  const added = after.find((line) => !before.includes(line));
  if (gone !== undefined) return `"${gone}" is gone${added === undefined ? '' : `, "${added}" is new`}`;
  return added === undefined ? null : `"${added}" is new`;
}

/** 1 for pictures of different size. */
async function shareOfOtherPixels(one, other) {
  const [a, b] = await Promise.all([one, other].map(async (file) => PNG.sync.read(await readFile(file))));
  if (a.width !== b.width || a.height !== b.height) return 1;
  return pixelmatch(a.data, b.data, undefined, a.width, a.height, { threshold: 0.2 }) / (a.width * a.height);
}
