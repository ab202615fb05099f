// The manifest of the tests, test/suites.json: which test file runs in which suite, and where.

export const MANIFEST = 'test/suites.json';

/**
 * A step is one test file in one environment: `{ file, env, node, seconds }`, where `node` is a version of Node or
 * undefined for this one, and `seconds` is the processor time that was measured.
 *
 * @param suite `gate` or `smoke`
 * @returns its stages in their order, each with its steps, the longest first. A stage that is named like an environment
 *   runs in it.
 */
export function stagesOf(manifest, suite) {
  return Object.entries(manifest[suite].stages).map(([name, files]) => ({
    name,
    steps: Object.entries(files)
      .map(([file, seconds]) => ({ file, seconds, ...environmentOf(manifest, name) }))
      .sort((a, b) => b.seconds - a.seconds),
  }));
}

/** The jobs of the nightly suite; a step is a test file, or a `command` that runs the files that it names. */
export function jobsOf(manifest) {
  return Object.entries(manifest.nightly).map(([name, groups]) => ({ name, steps: groups.flatMap(stepsOf) }));

  function stepsOf({ environment, env = {}, files, command }) {
    if (command !== undefined) return [{ command, files: files ?? [] }];
    const { env: common, node } = environmentOf(manifest, environment);
    return variants(env).flatMap((own) => files.map((file) => ({ file, node, env: { ...common, ...own } })));
  }
}

/** What tells one step from all others. */
export function nameOf({ file, env, node, command }) {
  if (command !== undefined) return command.join(' ');
  const settings = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  return [...(node === undefined ? [] : [`Node ${node}`]), ...settings.sort(), file].join(' ');
}

function environmentOf({ environments }, name) {
  const { env = {}, node } = environments[name] ?? {};
  return { env, node };
}

/** `{ A: ['1', '2'] }` is two environments. */
function variants(env) {
  return Object.entries(env).reduce(
    (made, [key, values]) => [values].flat().flatMap((value) => made.map((one) => ({ ...one, [key]: value }))),
    [{}],
  );
}
