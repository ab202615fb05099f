/** What an operation is sent and answers, for readers of the OpenAPI document. A test compares them with the schemas. */
export interface Example {
  /** The JSON body; absent: the operation takes none, or bytes. */
  readonly request?: unknown;
  /** JSON, or text of the operation's own content type. Absent: the answer is a file. */
  readonly answer?: unknown;
}

const ID = 'k3v9x1m7q2ab';
const BATCH = 'b7c2d9e4f1gh';
const AT = '2026-01-15T10:20:30.000Z';
const LATER = '2026-01-15T10:21:04.500Z';

const LIVE = {
  id: ID,
  sessionId: ID,
  mode: 'live',
  name: 'checkout',
  labels: { team: 'shop' },
  batch: null,
  status: 'running',
  state: 'running',
  prompt: null,
  flowFiles: [],
  model: null,
  maxIterations: null,
  iterations: 0,
  attempt: 1,
  queuePosition: null,
  createdAt: AT,
  startedAt: AT,
  endedAt: null,
  lastActivityAt: AT,
  endReason: null,
  summary: null,
  error: null,
  tokens: { input: 0, cached: 0, output: 0 },
  driver: 'process',
  links: {
    self: `/api/sessions/${ID}`,
    proxy: `/sessions/${ID}/proxy`,
    prompt: `/sessions/${ID}/prompt`,
    download: `/api/sessions/${ID}/download`,
    events: `/api/sessions/${ID}/events`,
    view: `/#/sessions/${ID}`,
  },
};
const TASK = { prompt: 'Buy a lamp', flowFiles: ['shop/login.js'], args: { user: 'ada' }, maxIterations: 0 };
const JOB = { ...LIVE, mode: 'auto', name: null, prompt: TASK.prompt, flowFiles: TASK.flowFiles, maxIterations: 0 };
const QUEUED = { ...JOB, status: 'queued', state: 'queued', queuePosition: 3, startedAt: null, driver: null };
const DONE = {
  ...JOB,
  status: 'completed',
  state: 'completed',
  endedAt: LATER,
  endReason: 'finished',
  summary: 'Bought',
};
const REMOVED = { id: ID, sessionId: ID, status: 'stopped', deleted: true };
const COUNTS = { total: 2, queued: 1, running: 1, completed: 0, failed: 0, stopped: 0 };
const BATCH_RECORD = {
  id: BATCH,
  name: 'nightly',
  labels: { branch: 'main' },
  state: 'running',
  parallel: 4,
  counts: COUNTS,
  createdAt: AT,
  endedAt: null,
  links: {
    self: `/api/batches/${BATCH}`,
    jobs: `/api/sessions?batch=${BATCH}`,
    events: `/api/batches/${BATCH}/events`,
    download: `/api/batches/${BATCH}/download`,
    junit: `/api/batches/${BATCH}/junit`,
  },
};
const CLAIM = 'Zx3k9QmV0c7LrT2yPq8WaAbC';
const REPORTED_TEST = {
  id: 'a30a6eba6312f6b87ea5-d748ac400d08b85935ef',
  suite: 'shop.spec.ts',
  titlePath: ['the cart', 'sums up'],
  project: 'chromium',
  repeat: 0,
  file: 'tests/shop.spec.ts',
  line: 7,
  column: 3,
  tags: [],
  reason: null,
  attempts: [
    {
      attempt: 1,
      status: 'passed',
      expectedStatus: 'passed',
      startedAt: AT,
      durationMs: 1840,
      sessionId: ID,
      failure: null,
    },
  ],
};
const JOINED_RESULT = {
  state: 'completed',
  startedAt: AT,
  durationMs: 8_240,
  sessionId: ID,
  failure: null,
  mayPassAgain: false,
};
const CONTROL = 'Zx3k9QmV0c7LrT2yPq8WaA';
const TOKEN = { id: 't1o2k3e4n5id', name: 'ci', role: 'run', limits: { running: 5 }, createdAt: AT };
const FILE = { name: 'invoice.pdf', bytes: 18_204, source: 'download', modifiedAt: AT };
const RUNS = {
  runs: 20,
  passed: 19,
  failed: 1,
  repaired: 0,
  passRate: 0.95,
  flakiness: 0.05,
  changes: 0.1,
  durationMs: { p50: 4210, p95: 6100 },
};
const OVER_TIME = {
  ...RUNS,
  failures: [{ code: 'LOCATOR_NOT_FOUND', runs: 1 }],
  periods: [{ ...RUNS, from: AT }],
};
const DELIVERY = {
  moment: 'ended',
  origin: 'https://ci.example.test',
  state: 'delivered',
  attempts: 1,
  lastError: null,
  nextAt: null,
};
const DEVTOOLS = {
  Browser: 'Chromium 147.0.0.0',
  'Protocol-Version': '1.3',
  webSocketDebuggerUrl: `ws://127.0.0.1:4444/sessions/${ID}/cdp`,
};
const FLOW = {
  kind: 'flow',
  name: 'login.js',
  path: 'shop/login.js',
  about: 'Logs in.',
  args: [{ name: 'user', default: "'ada'" }],
  fault: null,
};
const EVENT = {
  sessionId: ID,
  seq: 42,
  at: AT,
  type: 'ScriptStarted',
  data: { script: 1, kind: 'script', js: '1 + 1' },
};
const EVENTS = `id: 42\nevent: ScriptStarted\ndata: ${JSON.stringify(EVENT)}\n\n`;
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'curl', version: '8' } },
};
const PROMPT = `# A browser for you\n\nPOST a script to http://127.0.0.1:4444/sessions/${ID}/proxy ...\n`;

const NODE = {
  id: 'a',
  url: 'http://10.0.0.5:4444',
  version: '0.1.0',
  state: 'up',
  places: 10,
  running: 2,
  seen: '2026-03-02T09:30:00.000Z',
};

/** By method and path of the route. */
export const EXAMPLES: { readonly [operation: string]: Example } = {
  'GET /': { answer: '<!doctype html><title>Troupe</title>...' },
  'GET /assets/{name}': {},
  'GET /api/health': {
    answer: {
      status: 'ok',
      version: '0.1.0',
      driver: 'process',
      server: 'uws',
      uptimeSeconds: 3600,
      capacity: { max: 10, running: 2, queued: 0, warm: 2, demand: 2 },
      defaults: { idleTimeout: 300, hardTimeout: 1800, video: 'off' },
    },
  },
  'GET /api/nodes': { answer: [NODE] },
  'POST /api/nodes/{id}/drain': { answer: { ...NODE, state: 'draining' } },
  'DELETE /api/nodes/{id}': { answer: { id: 'a', removed: true } },
  'GET /metrics': { answer: 'troupe_sessions{state="running"} 2\n' },
  'GET /api/models': {
    answer: [{ id: 'openai/gpt-5', default: true, ready: true, apiKeyEnv: 'OPENAI_API_KEY' }],
  },
  'POST /api/sessions': { request: { name: 'checkout', labels: { team: 'shop' } }, answer: LIVE },
  'POST /api/sessions/run': { request: { ...TASK, waitTimeout: 60 }, answer: DONE },
  'GET /api/sessions': { answer: [LIVE] },
  'GET /api/sessions/{id}': { answer: LIVE },
  'DELETE /api/sessions/{id}': { answer: REMOVED },
  'GET /api/sessions/{id}/download': {},
  'GET /api/sessions/{id}/report': { answer: '<!doctype html><title>Report</title>...' },
  'GET /api/sessions/{id}/report.json': {
    answer: { schemaVersion: 1, sessionId: ID, status: 'completed', steps: [], assertions: [], deviations: [] },
  },
  'GET /api/sessions/{id}/trace': {},
  'POST /api/sessions/{id}/trace': {
    answer: { url: 'http://127.0.0.1:4445/?trace=...', expiresAt: LATER },
  },
  'GET /api/sessions/{id}/screenshots/{name}': {},
  'POST /api/jobs': { request: TASK, answer: QUEUED },
  'GET /api/jobs': { answer: [JOB] },
  'GET /api/jobs/{id}': { answer: DONE },
  'GET /api/jobs/{id}/download': {},
  'POST /api/batches': {
    request: { name: 'nightly', labels: { branch: 'main' }, parallel: 4, jobs: [TASK, TASK] },
    answer: { ...BATCH_RECORD, jobs: [ID, 'q8w2e4r6t1yu'] },
  },
  'GET /api/batches': { answer: { batches: [BATCH_RECORD], next: null } },
  'GET /api/batches/{id}': { answer: BATCH_RECORD },
  'POST /api/batches/{id}/rerun': {
    request: { jobs: 'failed' },
    answer: { ...BATCH_RECORD, id: 'c8d3e0f5g2hj', jobs: ['r9x3f5s7u2zv'] },
  },
  'POST /api/batches/join': {
    request: {
      build: '4711',
      hash: '9f86d081884c',
      name: 'nightly',
      jobs: [{ name: 'shop/checkout', flow: 'shop/checkout', retries: 1 }, { name: 'login' }],
    },
    answer: { ...BATCH_RECORD, parallel: null, join: { build: '4711', hash: '9f86d081884c' }, created: true },
  },
  'POST /api/batches/{id}/claim': {
    request: { machine: 'ci-3' },
    answer: {
      state: 'claimed',
      job: { name: 'shop/checkout', attempt: 1, retries: 1 },
      token: CLAIM,
      lease: 30,
    },
  },
  'POST /api/batches/{id}/claims/{token}/renew': { request: {}, answer: { lease: 30 } },
  'PUT /api/batches/{id}/claims/{token}/artifacts': { answer: { bytes: 81_920 } },
  'POST /api/batches/{id}/claims/{token}/result': { request: JOINED_RESULT, answer: { stored: true } },
  'GET /api/batches/{id}/results': {
    answer: {
      createdAt: AT,
      endedAt: AT,
      flows: [
        {
          name: 'shop/checkout',
          state: 'completed',
          machine: 'ci-3',
          attempts: [
            { attempt: 1, machine: 'ci-1', result: null, artifacts: null },
            {
              attempt: 2,
              machine: 'ci-3',
              result: JOINED_RESULT,
              artifacts: `/api/batches/${BATCH}/results/0-2-5f1d7a84c93b.zip`,
            },
          ],
        },
      ],
    },
  },
  'GET /api/batches/{id}/results/{name}': {},
  'POST /api/batches/suite': {
    request: { run: '6f0c1b0e-3a51', name: 'shop', labels: { branch: 'main' } },
    answer: { ...BATCH_RECORD, parallel: null, suite: { whole: false }, created: true },
  },
  'POST /api/batches/{id}/tests': {
    request: { tests: [REPORTED_TEST], whole: true, end: true },
    answer: { stored: true },
  },
  'GET /api/batches/{id}/tests': {
    answer: {
      createdAt: AT,
      endedAt: AT,
      whole: true,
      tests: [
        { ...REPORTED_TEST, name: 'shop.spec.ts › the cart › sums up [chromium]', state: 'completed', flaky: false },
      ],
    },
  },
  'GET /api/batches/{id}/ctrf': {
    answer: {
      reportFormat: 'CTRF',
      specVersion: '0.0.0',
      results: {
        tool: { name: 'troupe' },
        summary: { tests: 1, passed: 1, failed: 0, skipped: 0, pending: 0, other: 0, start: 1, stop: 1841 },
        tests: [{ name: 'the cart › sums up [chromium]', status: 'passed', duration: 1840 }],
      },
    },
  },
  'GET /api/batches/{id}/flows/{path...}': { answer: "() => agent.go('https://example.com')\n" },
  'GET /api/batches/{id}/webhooks': { answer: [DELIVERY] },
  'POST /api/batches/{id}/webhooks': { request: {}, answer: [DELIVERY] },
  'DELETE /api/batches/{id}': { answer: { ...BATCH_RECORD, state: 'stopped' } },
  'GET /api/batches/{id}/events': { answer: EVENTS },
  'GET /api/batches/{id}/download': {},
  'GET /api/batches/{id}/junit': { answer: '<testsuites name="nightly" tests="2" failures="0">...</testsuites>' },
  'POST /sessions/{id}/proxy': {
    request: { js: "agent.go('https://example.com'); agent.text('h1')" },
    answer: 'Example Domain',
  },
  'GET /prompt': { answer: PROMPT },
  'GET /sessions/{id}/prompt': { answer: PROMPT },
  'GET /sessions/{id}/cdp/json/version': { answer: DEVTOOLS },
  'GET /sessions/{id}/cdp/json/version/': { answer: DEVTOOLS },
  'POST /api/sessions/{id}/control': { request: { take: true }, answer: { taken: true, control: CONTROL } },
  'POST /api/sessions/{id}/handoff': {
    request: { answer: 'done', note: 'the code is 1234' },
    answer: { id: 'h4nd0ff1', answer: 'done' },
  },
  'GET /api/proof': { answer: { proof: 'Qm9v...' } },
  'POST /api/login': { request: { token: 'troupe_...' }, answer: { signedIn: true } },
  'DELETE /api/login': { answer: { signedIn: false } },
  'POST /api/tokens': {
    request: { name: 'ci', role: 'run', limits: { running: 5 } },
    answer: { ...TOKEN, token: 'troupe_...' },
  },
  'GET /api/tokens': { answer: [TOKEN] },
  'GET /api/states': {
    answer: [
      { name: 'shop', token: TOKEN.id, createdAt: AT, expiresAt: LATER, cookies: 3, origins: ['https://shop.test'] },
    ],
  },
  'DELETE /api/states/{name}': { answer: { name: 'shop', removed: 1 } },
  'GET /api/sessions/{id}/value': { answer: { user: 7 } },
  'DELETE /api/tokens/{id}': { answer: { id: TOKEN.id, revoked: true } },
  'POST /api/sessions/{id}/links': {
    request: { expiresIn: 3600 },
    answer: { url: 'http://127.0.0.1:4444/shared/...', link: '...', expiresAt: LATER },
  },
  'GET /shared/{link}': {},
  'GET /api/sessions/{id}/files': { answer: [FILE] },
  'GET /api/sessions/{id}/files/{name}': {},
  'PUT /api/sessions/{id}/files/{name}': { answer: { ...FILE, name: 'orders.csv', source: 'upload' } },
  'GET /api/flows': { answer: [{ kind: 'folder', name: 'shop', path: 'shop', entries: [FLOW] }] },
  'POST /api/sessions/{id}/baselines': {
    request: { baseline: 'shop/cart.baselines/home.docker-linux.png' },
    answer: {
      baseline: 'shop/cart.baselines/home.docker-linux.png',
      bytes: 18_204,
      flows: 'service',
      artifact: 'baselines/shop/cart.baselines/home.docker-linux.png',
    },
  },
  'GET /api/flows/{path...}': { answer: '// Logs in.\n({ user }) => { ... }\n' },
  'PUT /api/flows/{path...}': { answer: { path: 'shop/login.js', bytes: 48, fault: null } },
  'GET /api/stats': {
    answer: {
      since: AT,
      until: LATER,
      by: 'day',
      cut: false,
      totals: OVER_TIME,
      flows: [{ ...OVER_TIME, flow: 'shop/login', lastRunAt: AT, lastResult: 'passed' }],
    },
  },
  'GET /api/sessions/{id}/events': { answer: EVENTS },
  'GET /api/events': { answer: EVENTS },
  'POST /mcp': {
    request: INITIALIZE,
    answer: `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { protocolVersion: '2025-11-25' } })}\n\n`,
  },
  'GET /mcp': { answer: ': keep-alive\n\n' },
  'DELETE /mcp': {},
  'GET /api/sessions/{id}/artifacts': { answer: [{ path: 'report.json', bytes: 18_204, modifiedAt: LATER }] },
  'GET /api/sessions/{id}/artifacts/{path...}': {},
  'GET /api/sessions/{id}/webhooks': { answer: [DELIVERY] },
  'POST /api/sessions/{id}/webhooks': { request: { moment: 'ended' }, answer: [DELIVERY] },
  'GET /api/openapi.json': { answer: { openapi: '3.1.0' } },
};

/** Examples of path parameters, by the first route that the path begins like. */
const PARAMETER_EXAMPLES: readonly (readonly [path: string, examples: { readonly [name: string]: string }])[] = [
  ['/api/batches/{id}/flows/', { id: BATCH, path: FLOW.path }],
  ['/api/batches/{id}/results/', { id: BATCH, name: '0-2-5f1d7a84c93b.zip' }],
  ['/api/batches/', { id: BATCH, token: CLAIM }],
  ['/api/nodes/', { id: NODE.id }],
  ['/api/tokens/', { id: TOKEN.id }],
  ['/api/states/', { name: 'shop' }],
  ['/api/flows/', { path: FLOW.path }],
  ['/api/sessions/{id}/screenshots/', { id: ID, name: '001-step.png' }],
  ['/api/sessions/{id}/artifacts/', { id: ID, path: 'report.json' }],
  ['/api/sessions/{id}/files/', { id: ID, name: FILE.name }],
  ['/assets/', { name: 'index.js' }],
  ['/', { id: ID }],
];

/** An example of a parameter in the path of a route; undefined if there is none. */
export function parameterExample(path: string, name: string): string | undefined {
  return PARAMETER_EXAMPLES.find(([start]) => path.startsWith(start))?.[1][name];
}
