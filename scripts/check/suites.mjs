import { jobsOf, MANIFEST, nameOf, stagesOf } from '../support/suites.mjs';

const UNSTEADY = 'test/unsteady.json';

/** Test files that stand in no suite, pairs of file and environment that stand in two, and suites over their budget. */
export function suites({ paths, has, read }) {
  const manifest = JSON.parse(read(MANIFEST));
  const steps = [
    ...['gate', 'smoke'].flatMap((suite) => stagesOf(manifest, suite).flatMap((stage) => stage.steps)),
    ...jobsOf(manifest).flatMap((job) => job.steps),
  ];
  const named = new Set(steps.flatMap((step) => step.files ?? [step.file]));
  const missing = paths.filter(
    (path) => /^(request-client\/)?test\/.*\.(test|proof|chaos)\.ts$/.test(path) && !named.has(path),
  );
  const names = steps.map(nameOf);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  return [
    ...missing.map((path) => `${path} is in no suite of ${MANIFEST}`),
    ...[...named].filter((path) => !has(path)).map((path) => `${MANIFEST} names ${path}, which is not there`),
    ...[...repeated].map((name) => `${MANIFEST} has twice: ${name}`),
    ...unknownEnvironments(manifest),
    ...['gate', 'smoke'].flatMap((suite) => overBudget(manifest, suite)),
    ...unsteadyFaults({ has, read }),
  ];
}

function unknownEnvironments({ environments, nightly }) {
  return Object.entries(nightly).flatMap(([job, groups]) =>
    groups
      .map(({ environment }) => environment)
      .filter((environment) => environment !== undefined && environments[environment] === undefined)
      .map((environment) => `${MANIFEST}: the job ${job} runs in ${environment}, which is no environment`),
  );
}

function overBudget(manifest, suite) {
  const steps = stagesOf(manifest, suite).flatMap((stage) => stage.steps);
  const unmeasured = steps.filter(({ seconds }) => !(seconds > 0)).map(({ file }) => file);
  if (unmeasured.length > 0) return unmeasured.map((file) => `${MANIFEST}: ${file} has no processor time in ${suite}`);
  const total = Math.round(steps.reduce((sum, { seconds }) => sum + seconds, 0));
  const { budget } = manifest[suite];
  return total > budget ? [`${MANIFEST}: ${suite} takes ${total} s of processor time; ${budget} s are allowed`] : [];
}

function unsteadyFaults({ has, read }) {
  return JSON.parse(read(UNSTEADY)).flatMap((entry) => {
    const missing = ['file', 'test', 'failure', 'commit'].filter((key) => typeof entry[key] !== 'string');
    if (missing.length > 0) return [`${UNSTEADY}: an entry lacks ${missing.join(', ')}`];
    return has(entry.file) ? [] : [`${UNSTEADY} names ${entry.file}, which is not there`];
  });
}
