import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { startShop } from '../../examples/shop/shop.mjs';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { makeHome, startTestService, type TestService } from '../support/service.js';

guardLeaks(t);

const RECIPE_LIMIT_MS = 60_000;

/** A fenced block of the page; with `file` it is stored there, as the sentence before it says. */
interface Block {
  readonly language: string;
  readonly text: string;
  readonly file: string | undefined;
}

interface Recipe {
  readonly heading: string;
  readonly blocks: readonly Block[];
}

function readRecipes(document: string): Recipe[] {
  return document
    .split(/^### /m)
    .slice(1)
    .map((section) => ({
      heading: section.slice(0, section.indexOf('\n')),
      blocks: [...section.matchAll(/(?:Save this as\s+`([^`]+)`:\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm)].map(
        ([, file, language = '', text = '']) => ({ language, text, file }),
      ),
    }));
}

/** White space aside, the text that the page shows; `...` stands for anything. */
function asPattern(shown: string): RegExp {
  const parts = shown.split('...').map((part) => part.replace(/\s+/g, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`);
}

/** Runs the recipes of one page against a service and a shop of their own. */
class RecipeRunner {
  readonly #service: TestService;
  readonly #shopUrl: string;
  /** Of all scripts: each opens the page that it needs. */
  #session: Promise<SessionRecord> | null = null;

  constructor(service: TestService, shopUrl: string) {
    this.#service = service;
    this.#shopUrl = shopUrl;
    const command = join(service.home, 'bin', 'troupe');
    mkdirSync(dirname(command));
    writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${join(process.cwd(), 'dist/cli.js')}' "$@"\n`);
    chmodSync(command, 0o755);
  }

  /** What the recipe prints. */
  async run({ blocks }: Recipe): Promise<string> {
    let printed = '';
    for (const { language, text, file } of blocks) {
      if (file !== undefined) this.#store(file, text);
      else if (language !== 'text') printed += await this.#runBlock(language, this.#placed(text));
    }
    return printed;
  }

  #placed(text: string): string {
    return text
      .replaceAll('http://127.0.0.1:4444', this.#service.url)
      .replaceAll('http://127.0.0.1:4500', this.#shopUrl);
  }

  #store(file: string, text: string): void {
    const path = join(this.#service.home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  async #runBlock(language: string, code: string): Promise<string> {
    if (language === 'js') return await this.#runScript(code);
    if (language === 'sh') return await this.#runProgram('bash', ['-euo', 'pipefail', '-c', code], this.#service.home);
    // Its imports are found from the checkout.
    if (language === 'mjs') return await this.#runProgram(process.execPath, ['--input-type=module', '-e', code], '.');
    throw new Error(`Nothing runs ${language}`);
  }

  async #runScript(js: string): Promise<string> {
    this.#session ??= this.#service.live();
    const { id } = await this.#session;
    const { status, body } = await this.#service.run(id, js);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return JSON.stringify(body);
  }

  async #runProgram(program: string, args: readonly string[], cwd: string): Promise<string> {
    const env = {
      ...process.env,
      BASE: this.#service.url,
      TROUPE_URL: this.#service.url,
      PATH: `${join(this.#service.home, 'bin')}:${process.env.PATH}`,
    };
    return (await promisify(execFile)(program, args, { cwd, env, timeout: RECIPE_LIMIT_MS })).stdout;
  }
}

async function openRunner(t: Test): Promise<RecipeRunner> {
  const shop = await startShop();
  t.teardown(() => shop.close());
  process.env.TROUPE_WEBHOOK_SECRET = 'a secret of the cookbook';
  const forward = [Number(new URL(shop.url).port)];
  const settings = { forward, warmSessions: 0, webhookSecret: 'TROUPE_WEBHOOK_SECRET' };
  return new RecipeRunner(await startTestService(t, settings, makeHome(t, settings)), shop.url);
}

t.test('Every recipe of the cookbook runs and prints what the page shows', async (t) => {
  const recipes = readRecipes(await readFile(new URL('../../docs/cookbook.md', import.meta.url), 'utf8'));
  t.ok(recipes.length >= 20, `${recipes.length} recipes`);
  const runner = await openRunner(t);
  t.jobs = 3;
  for (const recipe of recipes) {
    const languages = new Set(recipe.blocks.map(({ language }) => language));
    t.test(
      recipe.heading,
      { buffered: true, skip: languages.has('sh') && skipWithout('bash', 'curl', 'jq') },
      async (t) => {
        const shown = recipe.blocks.filter(({ language }) => language === 'text');
        t.equal(shown.length, 1, 'the page shows what it prints');
        const printed = await runner.run(recipe);
        t.match(printed.replace(/\s+/g, ''), asPattern(shown[0]?.text ?? ''), printed);
      },
    );
  }
});
