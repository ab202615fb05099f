import t from 'tap';
import { readRunOptions } from '#troupe/cli/run/run-options.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('What earlier versions had in place of --screenshots means what it meant', async (t) => {
  t.equal(readRunOptions(['a.js']).screenshots, undefined);
  t.equal(readRunOptions(['a.js', '--exact-screenshots']).screenshots, 'on');
  t.equal(readRunOptions(['a.js', '--screenshots', 'exact']).screenshots, 'on');
  t.equal(readRunOptions(['a.js', '--screenshots', 'failures']).screenshots, 'failures');
  t.throws(() => readRunOptions(['a.js', '--screenshots', 'all']), { message: /on, failures, off, not 'all'/ });
});

t.test('Options are read as they were meant', async (t) => {
  process.env.RUN_OPTIONS_SECRET = 'lovelace';
  t.teardown(() => delete process.env.RUN_OPTIONS_SECRET);
  const words = [
    'a.js',
    '--args',
    'user=a=b',
    '--args',
    'n:=[1,2]',
    '--secret',
    'RUN_OPTIONS_SECRET',
    '--shard',
    '2/3',
  ];
  t.match(readRunOptions(['--prompt', 'Buy', '--forward', '3000, 4500', '--timeout', '60', '--flows', 'e2e']), {
    words: [],
    forward: [3000, 4500],
    timeout: 60,
    flows: 'e2e',
  });
  t.match(readRunOptions([...words, '--grep', '^shop/', '--parallel', '4', '--label', 'branch=main', '--fail-fast']), {
    words: ['a.js'],
    args: { user: 'a=b', n: [1, 2] },
    secrets: { RUN_OPTIONS_SECRET: 'lovelace' },
    shard: { index: 2, count: 3 },
    grep: /^shop\//,
    parallel: 4,
    labels: { branch: 'main' },
    maxFailures: 1,
    retries: 0,
    own: false,
  });
  const suite = [
    '--ctrf',
    'c.json',
    '--html',
    'out',
    '--list',
    '--last-failed',
    '--fail-on-flaky',
    '--repeat-each',
    '3',
  ];
  const retry = ['--max-failures', '2', '--retries', '1', '--retry-strategy', 'isolated', '--act-timeout', '0.5'];
  t.match(readRunOptions(['a.js', ...suite, ...retry]), {
    ctrf: 'c.json',
    html: 'out',
    list: true,
    lastFailed: true,
    failOnFlaky: true,
    repeatEach: 3,
    maxFailures: 2,
    retryStrategy: 'isolated',
    actTimeout: 0.5,
  });
  t.match(readRunOptions(['a.js', '--webhook', 'https://ci.test/hook']), {
    webhook: 'https://ci.test/hook',
    webhookFormat: undefined,
  });
  t.equal(readRunOptions(['a.js', '--webhook', 'https://hooks.slack.com/services/a']).webhookFormat, 'slack');
  const plain = ['--webhook', 'https://hooks.slack.com/services/a', '--webhook-format', 'standard'];
  t.equal(readRunOptions(['a.js', ...plain]).webhookFormat, 'standard');
  t.match(readRunOptions(['a.js']), {
    repeatEach: 1,
    maxFailures: null,
    retryStrategy: 'immediate',
    failOnFlaky: false,
  });
});

t.test('What is wrong is said in a sentence that names the option', async (t) => {
  const wrong: [string[], RegExp][] = [
    [[], /Missing argument: FILE, FOLDER or GLOB of flows, or --prompt TEXT/],
    [['a.js', '--paralel', '2'], /--paralel/],
    [['a.js', '--junit'], /^Missing value: --junit FILE$/],
    [['a.js', '--junit', '--list'], /^Missing value: --junit FILE$/],
    [['--grep', '-x', 'a.js'], /^Missing value: --grep RE\|@TAG\. If the value is '-x', write --grep=-x$/],
    [['a.js', '--list=yes'], /^--list takes no value$/],
    [['a.js', '--parallel', '0'], /--parallel takes a whole number from 1 to 10000, not '0'/],
    [['a.js', '--retries', 'many'], /--retries .* 'many'/],
    [['a.js', '--shard', '3/2'], /--shard .* '3\/2'/],
    [['a.js', '--join', 'b', '--shard', '1/2'], /--join and --shard do not go together/],
    [['a.js', '--join', 'b', '--watch'], /--join and --watch do not go together/],
    [['a.js', '--join', ''], /--join takes the name of a build/],
    [['a.js', '--join', 'b', '--retries', '1', '--retry-strategy', 'isolated'], /--join retries at once/],
    [['a.js', '--grep', '('], /--grep takes a regular expression/],
    [['a.js', '--args', 'user'], /--args takes name=value, not 'user'/],
    [['a.js', '--args', 'n:=x'], /--args n:= takes JSON, not 'x'/],
    [['a.js', '--secret', 'NO_SUCH_VARIABLE'], /--secret NO_SUCH_VARIABLE: the environment has no variable/],
    [['a.js', '--timeout', '-1'], /--timeout/],
    [['a.js', '--forward', '3000,x'], /--forward takes a whole number from 1 to 65535, not 'x'/],
    [['a.js', '--max-failures', '0'], /--max-failures takes a whole number from 1 to 10000, not '0'/],
    [['a.js', '--fail-fast', '--max-failures', '2'], /give only one of them/],
    [['a.js', '--repeat-each', '0'], /--repeat-each takes a whole number from 1 to 1000/],
    [
      ['a.js', '--retry-strategy', 'later', '--retries', '1'],
      /--retry-strategy takes immediate or isolated, not 'later'/,
    ],
    [['a.js', '--retry-strategy', 'isolated'], /add --retries N/],
    [['a.js', '--act-timeout', '0'], /--act-timeout takes seconds, more than 0 and at most 600, not '0'/],
    [['a.js', '--act-timeout', '1h'], /--act-timeout/],
    [['a.js', '--webhook', 'ftp://x.test'], /--webhook takes an http or https URL/],
    [['a.js', '--webhook-format', 'slack'], /add --webhook URL/],
    [['a.js', '--webhook', 'https://x.test', '--webhook-format', 'teams'], /standard or slack, not 'teams'/],
    [
      ['a.js', '--webhook', 'https://x.test', '--retries', '1', '--retry-strategy', 'isolated'],
      /use --retry-strategy immediate/,
    ],
    [['a.js', '--own', '--url', 'http://127.0.0.1:1'], /one of them/],
  ];
  for (const [words, message] of wrong) {
    t.throws(() => readRunOptions(words), { name: 'UsageError', message }, words.join(' '));
  }
});
