/** By how much a fitted line may rise over the whole time that was measured. */
const GROWTH = 0.01;

/** Prints what grew and what did not; true when nothing did. */
export function verdict(samples) {
  if (samples.length < 3) throw new Error('The time was too short to say anything');
  const lines = ['heapMb', 'rssMb'].map((name) => {
    const growth = fittedGrowth(samples.map((sample) => [sample.minute, sample[name]]));
    return { name, said: `${(growth * 100).toFixed(2)} % (at most ${GROWTH * 100} %)`, well: growth <= GROWTH };
  });
  for (const name of ['threads', 'handles', 'files']) {
    const [first, last] = [samples[0][name], samples.at(-1)[name]];
    lines.push({ name, said: `${first} -> ${last}`, well: last <= first });
  }
  console.log('');
  for (const { name, said, well } of lines) console.log(`${well ? 'flat  ' : 'GREW  '} ${name}: ${said}`);
  return lines.every(({ well }) => well);
}

/** The rise of the straight line nearest to the points (least squares) over their time, as a part of their mean. */
function fittedGrowth(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const slope =
    points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) /
    points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return (slope * (points.at(-1)[0] - points[0][0])) / y;
}
