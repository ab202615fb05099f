// The hooks of test-loader.mjs. They run on a thread of their own.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** What a file became, so that the compiler is started for files alone that changed since. */
const cache = join(root, 'node_modules/.cache/troupe/tests');
const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** Tests run what was built, in both packages: the imports of a package.json cannot name a folder outside of its own. */
const BUILT = { '#troupe/': 'dist', '#request-client/': 'dist/request-client' };

/** In TypeScript a relative `./x.js` means `./x.ts`. */
export async function resolve(specifier, context, next) {
  for (const [prefix, folder] of Object.entries(BUILT)) {
    if (!specifier.startsWith(prefix)) continue;
    return { url: pathToFileURL(join(root, folder, specifier.slice(prefix.length))).href, shortCircuit: true };
  }
  const relative = context.parentURL?.endsWith('.ts') === true && /^\..*\.js$/.test(specifier);
  return next(relative ? specifier.replace(/js$/, 'ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  return { format: 'module', source: await compiled(url, source), shortCircuit: true };
}

async function compiled(url, source) {
  const mark = `// ${hashOf(devDependencies.esbuild, source)}\n`;
  const file = join(cache, `${hashOf(url)}.js`);
  const known = await readFile(file, 'utf8').catch(() => '');
  if (known.startsWith(mark)) return known.slice(mark.length);
  const { transform } = await import('esbuild');
  const { code } = await transform(source, { loader: 'ts', sourcemap: 'inline', sourcefile: url, target: 'node20' });
  await mkdir(cache, { recursive: true });
  // Test files run at the same time, and none may see half of it.
  await writeFile(`${file}.${process.pid}`, mark + code);
  await rename(`${file}.${process.pid}`, file);
  return code;
}

function hashOf(...parts) {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
