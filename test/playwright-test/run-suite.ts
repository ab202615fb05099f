import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

interface Spec {
  readonly title: string;
  readonly tests: readonly {
    readonly projectName: string;
    readonly annotations: readonly { readonly type: string; readonly description?: string }[];
    readonly results: readonly {
      readonly status: string;
      readonly errors: readonly { readonly message: string }[];
      readonly attachments: readonly { readonly name: string; readonly path?: string }[];
    }[];
  }[];
}

interface Suite {
  readonly specs: readonly Spec[];
  readonly suites?: readonly Suite[];
}

export interface Outcome {
  readonly status: string;
  readonly errors: string;
  readonly annotations: readonly string[];
  readonly attachments: readonly { readonly name: string; readonly path?: string }[];
}

/**
 * Runs `playwright test` and returns how each test ended, by its title.
 * @param env with `REPORTERS: 'config'`, the reporters are those of the configuration, `json` among them
 */
export function runSuite(
  config: string,
  env: { readonly [name: string]: string },
  ...more: readonly string[]
): ReturnType<typeof runSuiteIn> {
  return runSuiteIn('.', config, env, ...more);
}

/** The same in another project, by the Playwright that is installed there. */
export async function runSuiteIn(
  project: string,
  config: string,
  env: { readonly [name: string]: string },
  ...more: readonly string[]
): Promise<{ readonly outcomes: { readonly [title: string]: Outcome }; readonly said: string }> {
  const reporters = env.REPORTERS === 'config' ? [] : ['--reporter', 'json'];
  const words = ['node_modules/@playwright/test/cli.js', 'test', '--config', config, ...reporters, ...more];
  // Playwright leaves its caches behind.
  const temporary = mkdtempSync(join(tmpdir(), 'suite-'));
  const child = spawn(process.execPath, words, {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    // What tap gives to node is for its own files.
    env: { ...process.env, TROUPE_TOKEN: '', TMPDIR: temporary, ...env },
  });
  const [said, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  rmSync(temporary, { recursive: true, force: true });
  const report: { readonly suites: readonly Suite[] } = said.startsWith('{') ? JSON.parse(said) : { suites: [] };
  const specs = report.suites.flatMap(specsOf);
  const outcomes = specs.flatMap(({ title, tests }) =>
    tests.map(({ annotations, results }): [string, Outcome] => {
      const last = results.at(-1);
      const errors = last?.errors.map(({ message }) => message).join('\n') ?? '';
      const described = annotations.map(({ type, description }) => `${type}: ${description}`);
      const { status = 'skipped', attachments = [] } = last ?? {};
      return [title, { status, errors, annotations: described, attachments }];
    }),
  );
  return { outcomes: Object.fromEntries(outcomes), said: said + complaints };
}

function specsOf({ specs, suites = [] }: Suite): readonly Spec[] {
  return [...specs, ...suites.flatMap(specsOf)];
}
