/** So many letters may differ. */
const MOST = 2;

/** `. Did you mean 'run'?` where one of the known words is nearly the given one, else nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  const [best] = known
    .map((word) => ({ word, distance: distanceOf(given, word) }))
    .filter(({ word, distance }) => distance <= Math.min(MOST, Math.floor(word.length / 2)) || isBeginning(given, word))
    .sort((left, right) => left.distance - right.distance);
  return best === undefined ? '' : `. Did you mean '${best.word}'?`;
}

function isBeginning(given: string, word: string): boolean {
  return given.length >= 3 && word.startsWith(given);
}

/** Letters that are added, left out, or other ones, and neighbours that have changed places. */
function distanceOf(left: string, right: string): number {
  const rows: number[][] = [];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 0; row <= left.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= right.length; column += 1) {
      if (row === 0) {
        rows[row]?.push(column);
        continue;
      }
      const same = left[row - 1] === right[column - 1];
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const ways = [at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + (same ? 0 : 1)];
      if (swapped) ways.push(at(row - 2, column - 2) + 1);
      rows[row]?.push(Math.min(...ways));
    }
  }
  return at(left.length, right.length);
}
