// Builds dist/ from src/, and dist/request-client/ from request-client/. Every TypeScript file becomes one ES module. Every
// `*.entry.ts` (code that runs inside a page or inside the script sandbox) becomes a `*.bundle.js` besides: the text of an
// expression whose value is its `install`. The entry of the script thread is one file with all that it imports: each session starts it.
// The pages take seconds, and are built again only when something of theirs has changed. What an earlier build left is removed.
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { postmanModules } from './support/postman-modules.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');
const dist = join(root, 'dist');

/** What is built, absolute. */
const built = new Set();

const requestClient = join(root, 'request-client');
/** Each with the folder that it is built to. */
const packages = [
  { from: src, to: dist, files: await sourcesIn(src) },
  {
    from: requestClient,
    to: join(dist, 'request-client'),
    files: (await sourcesIn(requestClient)).filter((file) => !/^(test|web)\b/.test(file)),
  },
];
for (const { from, to, files } of packages) {
  await build({
    entryPoints: files.map((file) => join(from, file)),
    outdir: to,
    outbase: from,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  });
}
// Modules that are one file with the packages that they need, which are no dependencies of an installation.
for (const module of [
  'engine/run/cookie-jar',
  'engine/run/ntlm',
  'engine/run/sign-request',
  'formats/imports/yaml-text',
  'formats/exports/code-library',
]) {
  await build({
    entryPoints: [join(requestClient, `${module}.ts`)],
    outfile: join(dist, `request-client/${module}.js`),
    allowOverwrite: true,
    bundle: true,
    minify: true,
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    legalComments: 'linked',
    external: ['#troupe/protocol/errors.js'],
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
}
// dockerode with all that it needs is one file: what it brings for ssh and BuildKit, compiled on the machine that installs it,
// is replaced by an empty package (package.json, overrides) and never gets to an installation.
await build({
  entryPoints: [join(src, 'containers/docker/dockerode.ts')],
  outfile: join(dist, 'containers/docker/dockerode.js'),
  allowOverwrite: true,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  banner: {
    js: `// dockerode and docker-modem, Pedro Dias, Apache-2.0, and what they need; see the licenses of these packages.
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`,
  },
  logLevel: 'warning',
});
// The client library is one file that needs nothing, also in pages.
await build({
  entryPoints: [join(src, 'client/index.ts')],
  outfile: join(dist, 'client/index.js'),
  allowOverwrite: true,
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  logLevel: 'warning',
});
// To find and load 40 modules one by one is a third of what a thread costs.
await build({
  entryPoints: [join(src, 'script/script.thread.ts')],
  outfile: join(dist, 'script/script.thread.js'),
  allowOverwrite: true,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
});
const entries = packages.flatMap(({ from, to, files }) =>
  files.filter((file) => file.endsWith('.entry.ts')).map((file) => ({ from, to, file })),
);
for (const { from, to, file } of entries) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(from, file)],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'entry',
    target: 'es2023',
    // Names of functions stay in what runs scripts: they are in the stacks of errors.
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: file.startsWith('page/'),
    logLevel: 'warning',
  });
  const target = join(to, file.replace(/\.entry\.ts$/, '.bundle.js'));
  await write(target, `(function () {\n${outputFiles[0].text}\nreturn entry.install;\n})()\n`);
}
await write(
  join(dist, 'request-client/engine/prelude/postman-modules.json'),
  JSON.stringify({
    license: 'postman-sandbox, Postman Inc., Apache-2.0, and what it contains; see the licenses of these packages',
    ...(await postmanModules(requestClient)),
  }),
);
await buildPages();
const { devices } = createRequire(import.meta.url)('playwright-core');
await write(join(dist, 'agent-js/devices/devices.json'), JSON.stringify(devices));
// What compilers know of the functions that programs send to a session.
const { moduleTypes } = await import('../dist/agent-js/script-api.js');
await write(join(dist, 'agent-js.d.ts'), moduleTypes());
await chmod(join(dist, 'cli.js'), 0o755).catch(() => undefined);
await removeOthers();

/** Of TypeScript, by their path in the folder. */
async function sourcesIn(folder) {
  const all = await readdir(folder, { recursive: true });
  return all.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
}

async function build(options) {
  const { metafile } = await esbuild.build({ ...options, metafile: true });
  for (const path of Object.keys(metafile.outputs)) built.add(resolve(path));
}

async function write(path, text) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  built.add(path);
}

/** Removes what an earlier build made of sources that are gone. The pages, the stamp, and declarations of what was built stay. */
async function removeOthers() {
  for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isKept = /^(web\/|\.)/.test(relative(dist, path));
    const isBuilt = built.has(path) || built.has(path.replace(/\.d\.ts$/, '.js'));
    if (entry.isFile() && !isKept && !isBuilt) await rm(path);
  }
}

async function buildPages() {
  const stampFile = join(dist, 'web', '.troupe-source');
  const sources = [join(root, 'package-lock.json'), join(src, 'agent-js/script-api.ts')];
  const folders = [
    'web',
    'request-client/web',
    'request-client/protocol',
    'src/protocol',
    'src/agent-js/playwright-api',
    'src/agent-js/script-types',
  ];
  for (const folder of folders.map((path) => join(root, path))) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries) if (entry.isFile()) sources.push(join(entry.parentPath, entry.name));
  }
  const hash = createHash('sha256');
  for (const file of sources.sort()) hash.update(file).update(await readFile(file));
  const stamp = hash.digest('hex');
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === stamp) return;
  const { buildPage } = await import('../web/build-pages.mjs');
  await buildPage(join(root, 'web/dashboard'), join(dist, 'web/dashboard'));
  await buildPage(join(requestClient, 'web'), join(dist, 'web/request-client'));
  await writeFile(stampFile, stamp);
}
