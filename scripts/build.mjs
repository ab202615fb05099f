// Builds dist/ from src/. Every TypeScript file becomes one ES module. Every `*.entry.ts` (code that runs inside a page
// or inside the script sandbox) becomes a `*.bundle.js` besides: the text of an expression whose value is its `install`.
// The entry of the script thread is one file with all that it imports: each session starts it.
// The pages under web/ take seconds, and are built again only when something of theirs has changed.
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../web/esbuild.mjs';
import { postmanModules } from './support/postman-modules.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');
const dist = join(root, 'dist');

const files = (await readdir(src, { recursive: true })).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.d.ts'),
);
await build({
  entryPoints: files.map((file) => join(src, file)),
  outdir: dist,
  outbase: src,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
});
// Modules that are one file with the packages that they need, which are no dependencies of an installation.
for (const module of ['run/cookie-jar', 'run/ntlm', 'run/sign-request', 'imports/yaml-text', 'exports/code-library']) {
  await build({
    entryPoints: [join(src, `request-client/${module}.ts`)],
    outfile: join(dist, `request-client/${module}.js`),
    nodePaths: [join(root, 'web/node_modules')],
    allowOverwrite: true,
    bundle: true,
    minify: true,
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    legalComments: 'linked',
    external: ['*/protocol/errors.js'],
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
}
// dockerode with all that it needs is one file: what it brings for ssh and BuildKit, compiled on the machine that installs it,
// is replaced by an empty package (package.json, overrides) and never gets to an installation.
await build({
  entryPoints: [join(src, 'containers/docker/dockerode.ts')],
  outfile: join(dist, 'containers/docker/dockerode.js'),
  nodePaths: [join(root, 'web/node_modules')],
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
for (const file of files.filter((name) => name.endsWith('.entry.ts'))) {
  const { outputFiles } = await build({
    entryPoints: [join(src, file)],
    nodePaths: [join(root, 'web/node_modules')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'entry',
    target: 'es2023',
    // Names of functions stay in what runs scripts: they are in the stacks of errors.
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: file.startsWith('agent-js/page/'),
    logLevel: 'warning',
  });
  const target = join(dist, relative(src, join(src, file)).replace(/\.entry\.ts$/, '.bundle.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, `(function () {\n${outputFiles[0].text}\nreturn entry.install;\n})()\n`);
}
await writeFile(
  join(dist, 'request-client/prelude/postman-modules.json'),
  JSON.stringify({
    license: 'postman-sandbox, Postman Inc., Apache-2.0, and what it contains; see the licenses of these packages',
    ...(await postmanModules(join(root, 'web'))),
  }),
);
await buildPages();
const { devices } = createRequire(import.meta.url)('playwright-core');
await writeFile(join(dist, 'agent-js/devices/devices.json'), JSON.stringify(devices));
// What editors and compilers of flows know of agent JS.
const { scriptTypes } = await import('../dist/agent-js/script-api.js');
await writeFile(join(dist, 'agent-js.d.ts'), scriptTypes());
await chmod(join(dist, 'cli.js'), 0o755).catch(() => undefined);

async function buildPages() {
  const stampFile = join(dist, 'web', '.troupe-source');
  const sources = [join(root, 'package-lock.json'), join(src, 'agent-js/script-api.ts')];
  for (const folder of [join(root, 'web'), join(src, 'protocol'), join(src, 'agent-js/playwright-api')]) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries) if (entry.isFile()) sources.push(join(entry.parentPath, entry.name));
  }
  const hash = createHash('sha256');
  for (const file of sources.sort()) hash.update(file).update(await readFile(file));
  const stamp = hash.digest('hex');
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === stamp) return;
  const { buildPage } = await import('../web/build-pages.mjs');
  for (const page of ['dashboard', 'request-client']) await buildPage(page, join(dist, 'web', page));
  await writeFile(stampFile, stamp);
}
