/** What docs/configuration.md says of a key of `troupe.json`. */
export interface KeyText {
  /** Markdown, a sentence without its full stop. */
  readonly text: string;
  /** What holds if the key is not set and the schema has no default. */
  readonly unset?: string;
}

/**
 * Every key that can be set, in the order of the table, with dots between the parts of nested ones. Their defaults are those of
 * the schema in `src/config.ts`. After a change, `npm run docs` writes the table.
 */
export const CONFIG_KEYS: { readonly [key: string]: KeyText } = {
  port: { text: 'The port to listen on; 0: a free one' },
  host: { text: 'The address to listen on; any but loopback needs `token`' },
  publicUrl: { text: 'The URL at which clients reach the service, for example behind a proxy' },
  allowedHosts: { text: 'Further host names by which clients call the service' },
  server: { text: 'The HTTP server: `uws`, `node`, or `auto`: uWebSockets.js if it can be loaded, else node:http' },
  token: { text: 'The environment variable with the admin token: [Access control](access-control.md)' },
  maxSessions: { text: 'Browsers at once; more work waits in the queue' },
  warmSessions: { text: 'Browsers started ahead of time, within `maxSessions`; 0 starts none' },
  maxQueue: { text: 'Jobs that may wait; they wait on disk' },
  createTimeout: { text: 'How long creating a live session waits for a free browser' },
  idleTimeout: { text: 'Ends a live session that is not used' },
  hardTimeout: { text: 'Ends any session' },
  evalTimeout: { text: 'The longest time of one script' },
  actTimeout: { text: 'How long `agent.act` waits for its element' },
  driver: { text: 'Where browsers run: `docker`, `process`, or `auto`: Docker if it can be used' },
  chromiumSandbox: {
    text: "`false` for the process driver [without Chromium's sandbox](security.md#without-chromiums-sandbox)",
  },
  chromedriver: {
    text: 'The path of chromedriver, for [WebDriver](moving.md)',
    unset: 'where packages install it',
  },
  forward: { text: 'Ports of this machine that pages in containers reach as localhost' },
  'worker.image': {
    text: "An image of your own, built from this version's `worker-container/`; `npm run setup` pulls it",
    unset: 'the image of this version',
  },
  'worker.memory': {
    text: 'Megabytes that a [container](containers.md#container-limits) may use, temporary files included; a page that needs more ends its session',
  },
  'worker.cpus': { text: 'Cores that a container may use' },
  'worker.pids': { text: 'Processes and threads in a container' },
  'worker.downloads': {
    text: 'Megabytes of downloads (at least 192), for one file and for all together; what exceeds it is cancelled',
  },
  'worker.scale': { text: 'Desktop pixels per CSS pixel' },
  'egress.allow': {
    text: 'If set, pages reach only these hosts: [below](#control-what-pages-can-reach)',
    unset: 'all',
  },
  'egress.deny': { text: 'Hosts that pages cannot reach' },
  video: { text: '`on`, `off`, or `on-failure`: kept if the session did not complete' },
  screenshots: {
    text: '`on`: of steps that change the page; `failures`; `off`: [Sessions](http-api.md#post-apisessions)',
    unset: '`on` for jobs',
  },
  trace: { text: '`on`, `off`, or `on-failure`: [Traces](playwright.md#traces)' },
  'traceViewer.port': { text: 'The port on which the dashboard opens traces; 0: a free one: [below](#trace-viewer)' },
  'traceViewer.publicUrl': { text: 'The URL at which users reach the trace viewer, for example behind a proxy' },
  models: { text: 'Models that jobs may use, the default first: [Models](models.md)' },
  providers: { text: 'Further model providers by name, each with `baseURL` and `apiKeyEnv`: [Models](models.md)' },
  maxIterations: { text: 'Answers of a model that a job may use unless it says otherwise' },
  'retention.days': { text: 'Days that ended sessions and their artifacts are kept' },
  'retention.megabytes': { text: 'Megabytes of artifacts; above it, the oldest sessions are removed' },
  'artifacts.folder': {
    text: 'The folder for artifacts: [Artifacts in a store](#artifacts-in-a-store)',
    unset: 'the home',
  },
  'artifacts.s3.bucket': { text: 'The bucket for artifacts' },
  'artifacts.s3.endpoint': { text: 'The address of the server with the bucket', unset: "Amazon's" },
  'artifacts.s3.region': { text: 'The region of the bucket', unset: 'us-east-1' },
  'artifacts.s3.prefix': { text: 'What the names of artifacts in the bucket begin with' },
  'requests.proxy': {
    text: 'The proxy of `Request.run`, or `"environment"`: [below](#proxy-and-certificates-of-requestrun)',
    unset: 'none',
  },
  'requests.proxyLogin': { text: 'The environment variable with the login of the proxy, `user:password`' },
  'requests.noProxy': { text: 'Hosts that are reached without the proxy' },
  'requests.ca': { text: 'Files with certificate authorities to trust, too (PEM)' },
  'requests.certificates': {
    text: 'Client certificates, each with `host` and `pfx`, or `cert` and `key`, and `passphrase`',
  },
  webhookSecret: { text: 'The environment variable with the secret that signs [webhooks](webhooks.md)' },
  'webhooks.allow': {
    text: 'Hosts that webhooks may reach although they are closed, such as loopback: [Webhooks](webhooks.md)',
  },
  'handoff.link': { text: '`true`: webhooks send people links with control: [Handoffs](webhooks.md#handoffs)' },
  database: {
    text: 'The environment variable with a `postgres://` URL: [PostgreSQL](deployment.md#postgresql)',
    unset: 'SQLite in the home',
  },
  clusterKey: {
    text: 'The environment variable with a key that replaces `troupe.key`: [PostgreSQL](deployment.md#postgresql)',
  },
  'node.url': {
    text: 'The URL at which other nodes reach this one: [several machines](deployment.md#several-machines)',
  },
  'node.id': { text: 'The id of this node', unset: 'of the host name and the home' },
  'node.leaseFactor': { text: 'Multiplies the times after which a node counts as lost; the same on all nodes' },
  drainTimeout: { text: 'How long a node that is drained waits for its sessions' },
  log: { text: '`text`, or `json`: one JSON value per line' },
  traces: { text: 'The URL of an OTLP receiver: [Monitoring](monitoring.md#traces)' },
};
