import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { scriptTypes } from '#troupe/agent-js/script-api.js';
import { FLOWS_TSCONFIG } from '#troupe/cli/run/types-command.js';
import { cachedPackages } from '../../scripts/support/cached-packages.mjs';
import { blockFiles, docBlocks } from '../support/doc-blocks.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const COMPILE_MS = 300_000;
/** What the types of the package, of Playwright, and of Node import. */
const PACKAGES = ['@types', '@playwright', 'playwright', 'playwright-core', 'zod', 'undici-types', 'buffer'];

/** A project that has installed Troupe, with the programs of README.md and docs/. */
function makeProject(): {
  readonly folder: string;
  readonly programs: readonly string[];
  readonly others: readonly string[];
} {
  const folder = mkdtempSync(join(tmpdir(), 'types-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const installed = join(folder, 'node_modules/troupe');
  mkdirSync(join(installed, 'dist'), { recursive: true });
  for (const name of PACKAGES)
    symlinkSync(join(process.cwd(), 'node_modules', name), join(folder, 'node_modules', name));
  compile('node_modules/typescript/bin/tsc', '.', ['-p', 'tsconfig.client.json', '--outDir', join(installed, 'dist')]);
  copyFileSync('dist/agent-js.d.ts', join(installed, 'dist/agent-js.d.ts'));
  copyFileSync('package.json', join(installed, 'package.json'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const blocks = docBlocks();
  const programs = blocks.filter(({ language }) => language === 'ts');
  for (const [path, text] of blockFiles(folder, programs)) writeFileSync(path, text);
  // An own expect and page, as in the tests of a suite.
  writeFileSync(
    join(folder, 'suite.ts'),
    `import type {} from 'troupe/agent-js';
import { expect, test } from 'troupe/playwright';
test('a', async ({ page, session }) => {
  await expect(page).toHaveTitle('x');
  const seen: string | null = await session.run(() => agent.look().elements[0]?.locator);
  const file: File = new File([seen ?? ''], 'a');
  expect(file.name).toBe('a');
  expect(new Request('http://localhost').url).toBeTruthy();
});
`,
  );
  mkdirSync(join(folder, 'flows'));
  writeFileSync(join(folder, 'flows/troupe.d.ts'), scriptTypes());
  writeFileSync(join(folder, 'flows/tsconfig.json'), FLOWS_TSCONFIG);
  const scripts = blocks.filter(({ language }) => language === 'js');
  // Where an editor finds no settings, lib.dom is there.
  const compilerOptions = { allowJs: true, checkJs: true, noEmit: true, target: 'es2022', module: 'esnext', types: [] };
  const files = ['troupe.d.ts', `${scripts[0]?.name}.js`];
  writeFileSync(join(folder, 'flows/beside-dom.json'), JSON.stringify({ compilerOptions, files }));
  for (const [path, text] of blockFiles(join(folder, 'flows'), scripts)) writeFileSync(path, text);
  const names = programs.map(({ name }) => `${name}.ts`);
  const withPlaywright = programs.filter(({ text }) => text.includes('playwright')).map(({ name }) => `${name}.ts`);
  return { folder, programs: names, others: [...withPlaywright, 'suite.ts'] };
}

/** @returns what the compiler said */
function compile(tsc: string, cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, ...args], {
    cwd,
    encoding: 'utf8',
    timeout: COMPILE_MS,
  });
  return status === 0 ? '' : `${stdout}${stderr}`.slice(0, 3000) || 'it did not end in time';
}

function compilers(): { readonly [version: string]: string } | null {
  try {
    const seven = cachedPackages('typescript-7.0.2', ['typescript@7.0.2']);
    return { '5.9': join(process.cwd(), 'node_modules/typescript/bin/tsc'), '7': seven('typescript', 'bin', 'tsc') };
  } catch {
    return null;
  }
}

const known = compilers();
const skip = known === null && 'TypeScript 7 cannot be installed: is the npm registry reachable?';
t.test('The programs of README.md and docs/ compile with TypeScript 5.9 and 7, in each setting', { skip }, (t) => {
  const { folder, programs, others } = makeProject();
  const modules = [
    ['--module', 'nodenext'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ];
  const strict = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--types', 'node'];
  for (const [version, tsc] of Object.entries(known ?? {})) {
    for (const module of modules) {
      const say = (what: string): string => `${version}, ${module.at(-1)}, ${what}`;
      t.equal(compile(tsc, folder, [...strict, ...module, ...new Set([...programs, ...others])]), '', say('lib.dom'));
      // Playwright's own types need lib.dom.
      const plain = programs.filter((name) => !others.includes(name));
      t.equal(compile(tsc, folder, [...strict, ...module, '--lib', 'es2022', ...plain]), '', say('es2022'));
    }
    t.equal(compile(tsc, folder, ['-p', 'flows']), '', `${version}, flows`);
    t.equal(compile(tsc, folder, ['-p', 'flows/beside-dom.json']), '', `${version}, troupe.d.ts beside lib.dom`);
  }
  t.end();
});
