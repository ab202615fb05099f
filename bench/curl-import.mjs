// Paste a curl command: how often is the request just what bash and curl would send? Every command is run by the real bash
// and curl against a loopback capture, and imported by us and by two packages of the registry; what browsers copy for cmd
// and PowerShell is held against the request that they copied. The peers are installed on demand into the user's cache.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { importAnswer } from '#request-client/curl/import/import-answer.js';
import { importCurl } from '#request-client/curl/import/import-curl.js';
import '../scripts/test-loader.mjs';
import { cachedPackages } from '../scripts/support/cached-packages.mjs';
import { percentiles } from './support/percentiles.mjs';
import { atLeast, atMost } from './support/print.mjs';

const PEERS = ['curlconverter@4.12.0', 'curl-to-postmanv2@1.8.4'];
const GENERATED = 1000;
/** Generated commands in each of the forms that are pasted. */
const PASTED = 300;
/** Of each client's own, or the connection's: no part of what the command says. */
const OWN = /^(?:host|user-agent|accept|content-length|connection|expect)$/i;

export async function run({ rounds = 1 } = {}) {
  const { WireCapture, comparable, runInBash } = await import('../request-client/test/wire-capture.ts');
  const { OPTION_COMMANDS, quotedCommands, PLACE } = await import(
    '../request-client/test/curl/import/posix-commands.ts'
  );
  const { generatedCommand } = await import('../request-client/test/curl/import/generated-commands.ts');
  const { browserForms } = await import('../request-client/test/curl/import/browser-forms.ts');
  const { doubledQuoteForms, surrounded, typographicForm } = await import(
    '../request-client/test/curl/import/pasted-forms.ts'
  );
  const { onePoint } = await import('../request-client/test/curl/import/one-point.ts');

  // Forms and files have no one way to be said in a list of fields: the tests hold ours against curl itself.
  const tabled = OPTION_COMMANDS.filter((command) => !/ -F| --form|small\.txt|lines\.json/.test(command));
  const groups = {
    'options of curl': tabled,
    'ways of quoting': quotedCommands(),
    generated: fc.sample(generatedCommand, { numRuns: GENERATED * rounds, seed: 1 }),
  };
  for (const form of ['chrome-posix', 'firefox-posix']) {
    const rows = browserForms.filter((row) => row.form === form);
    groups[form] = rows.map(({ text }) => onePoint(text.replaceAll('http://capture.invalid', PLACE)));
  }
  // What is pasted differs from the command that bash runs: Markdown and prompts around it, typographic quotes in it.
  const forms = Object.entries({
    ...Object.fromEntries(Object.entries(groups).map(([group, commands]) => [group, commands.map(asPasted)])),
    ...surrounded([...tabled, ...groups['chrome-posix'], ...groups.generated.slice(0, PASTED)]),
    'typographic quotes': fc.sample(typographicForm, { numRuns: PASTED, seed: 1 }),
  });

  const readers = { troupe: ours, ...(await peers()) };
  const right = {};
  const count = (group, name, equal) => {
    right[group] ??= { rows: 0 };
    right[group][name] = (right[group][name] ?? 0) + (equal ? 1 : 0);
  };
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  writeFileSync(join(folder, 'small.txt'), 'small\n');
  const capture = await WireCapture.start();
  try {
    for (const [group, rows] of forms) {
      const place = (text, index) => text.replaceAll(PLACE, `${capture.origin}/c${index}`);
      const commands = rows.map(({ command }, index) => place(command, index));
      for (let at = 0; at < commands.length; at += 200) await runInBash(commands.slice(at, at + 200), folder);
      const kept = capture.take();
      for (const [index, { pasted }] of rows.entries()) {
        const wanted = (kept.get(`c${index}`) ?? []).map((request) => fields(comparable(request)));
        // What curl itself refuses says nothing about an import.
        if (wanted.length === 0) continue;
        for (const [name, read] of Object.entries(readers)) {
          const equal = same(await read(place(pasted, index)), wanted);
          count(group, name, equal);
          if (!equal && name === 'troupe') console.log(`  not right: ${pasted.slice(0, 200)}`);
        }
        right[group].rows += 1;
      }
    }
  } finally {
    await capture.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const doubled = doubledQuoteForms().map((row) => ({ ...row, form: 'older firefox-cmd' }));
  for (const { form, text, method, target, headers, body } of [...browserForms, ...doubled]) {
    if (form.endsWith('-posix')) continue;
    const wanted = [fields({ method, target, headers, body: Buffer.from(body ?? '').toString('latin1') })];
    for (const [name, read] of Object.entries(readers)) count(form, name, same(await read(text), wanted));
    right[form].rows += 1;
  }

  const names = Object.keys(readers);
  console.log(`  ${'wholly right'.padEnd(28)}${'rows'.padStart(6)}${names.map((name) => name.padStart(20)).join('')}`);
  for (const [group, scores] of Object.entries(right)) print(group, scores, names);
  const total = Object.values(right).reduce((sum, scores) => {
    for (const [name, number] of Object.entries(scores)) sum[name] = (sum[name] ?? 0) + number;
    return sum;
  }, {});
  print('all', total, names);
  const bodies = JSON.stringify({ text: 'Zoë said "hi"\n'.repeat(70_000) });
  const forCmd = bodies.replace(/["\\]/g, (char) => `^\\^${char}`).replace(/[{}]/g, '^$&');
  const big = {
    sh: `curl http://h/ -d '${bodies}'`,
    cmd: `curl ^"http://h/^" --data-raw ^"${forCmd}^"`,
    PowerShell: `curl.exe http://h/ -d '${bodies}' -H "A: $env:B"`,
  };
  const slowest = Object.entries(big).map(([shell, command]) => {
    const samples = Array.from({ length: 20 }, () => {
      const startedAt = performance.now();
      importCurl(command);
      return performance.now() - startedAt;
    });
    const { p50 } = percentiles(samples);
    console.log(`  a command of ${(command.length / 1e6).toFixed(1)} MB for ${shell}: ${p50.toFixed(0)} ms`);
    return p50;
  });
  const lowest = Math.min(...Object.values(right).map((scores) => scores.troupe / scores.rows));
  return [
    atLeast('curl-import: share wholly right in the worst group', lowest, 0.99),
    atMost('curl-import: ms for a command of a megabyte in the slowest shell, p50', Math.max(...slowest), 100),
  ];
}

function asPasted(command) {
  return { command, pasted: command };
}

function print(group, scores, names) {
  const shares = names.map((name) => `${(((scores[name] ?? 0) / scores.rows) * 100).toFixed(1)} %`.padStart(20));
  console.log(`  ${group.padEnd(28)}${String(scores.rows).padStart(6)}${shares.join('')}`);
}

/** Method, target, headers and body in one comparable form; text is one character a byte. */
function fields({ method, target, headers, body }) {
  return {
    method: method.toUpperCase(),
    target,
    headers: headers
      .filter(([name, value]) => !OWN.test(name) || (/^user-agent$/i.test(name) && !/^curl\//.test(value)))
      .filter(([name, value]) => !/^accept$/i.test(name) || value !== '*/*')
      .map(([name, value]) => `${name.toLowerCase()}: ${value.trim()}`)
      .sort(),
    body,
  };
}

/** Percent-encoding of the target may differ in letters and in what need not be encoded: generous to all alike. */
function same(read, wanted) {
  const plain = (requests) => JSON.stringify(requests.map((one) => ({ ...one, target: unescape(one.target) })));
  return read !== null && plain(read) === plain(wanted);
}

const bytes = (text) => Buffer.from(text, 'utf8').toString('latin1');
const targetOf = (url) =>
  bytes(url.replace(/^(?:[a-z]+:\/\/)?[^/?]*/i, '').replace(/#.*$/, '')).replace(/^(?!\/)/, '/');

async function ours(command) {
  const { requests, errors } = importAnswer(importCurl(command));
  if (errors.length > 0) return null;
  return requests.map(({ method, url, headers, body }) =>
    fields({
      method,
      target: targetOf(url),
      headers: headers.map(({ name, value }) => [name, bytes(value)]),
      body:
        typeof body === 'string'
          ? bytes(body)
          : body === null
            ? ''
            : Buffer.from(body.base64 ?? '', 'base64').toString('latin1'),
    }),
  );
}

async function peers() {
  const pathOf = cachedPackages('curl-importers', PEERS);
  const require = createRequire(pathOf('..', 'package.json'));
  const [converterName, postmanName] = PEERS.map((peer) => peer.split('@')[0]);
  const converter = await import(pathToFileURL(require.resolve(converterName)).href);
  const postman = require(postmanName);
  return {
    curlconverter: async (command) => {
      try {
        return JSON.parse(converter.toHarString(command)).log.entries.map(({ request }) => {
          const { method, url, headers, queryString, postData } = request;
          const query = queryString.map(({ name, value }) => `${name}=${value}`).join('&');
          const params = postData?.params?.map(({ name, value }) => `${name}=${value}`).join('&');
          return fields({
            method,
            target: targetOf(query === '' || url.includes('?') ? url : `${url}?${query}`),
            headers: headers.map(({ name, value }) => [name, bytes(value)]),
            body: bytes(postData?.text ?? params ?? ''),
          });
        });
      } catch {
        return null;
      }
    },
    'curl-to-postmanv2': (command) =>
      new Promise((resolve) => {
        postman.convert({ type: 'string', data: command }, (error, result) => {
          if (error !== null || !result.result) return resolve(null);
          resolve(result.output.map(({ data }) => fields(ofPostman(data))));
        });
      }).catch(() => null),
  };
}

function ofPostman({ method, url, header = [], body = {} }) {
  const pairs = (list) => list.map(({ key, value }) => `${key}=${value ?? ''}`).join('&');
  const typed = header.some(({ key }) => /^content-type$/i.test(key));
  const implied = body.mode === 'urlencoded' && !typed ? [['Content-Type', 'application/x-www-form-urlencoded']] : [];
  return {
    method,
    target: targetOf(typeof url === 'string' ? url : url.raw),
    headers: [...header.map(({ key, value }) => [key, bytes(value ?? '')]), ...implied],
    body: bytes(body.mode === 'urlencoded' ? pairs(body.urlencoded) : (body.raw ?? '')),
  };
}
