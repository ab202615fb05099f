import { type Command, URL_OPTION } from './command.js';

export const DASHBOARD = {
  name: 'dashboard',
  usage: ['[options]'],
  summary: 'Start the service: HTTP API, MCP, and dashboard',
  notes: ['Options win over `troupe.json`.'],
  example: 'troupe dashboard --port 5000 --max-sessions 4',
  options: {
    port: { type: 'string', value: 'PORT', text: 'Listen on this port (default: 4444); 0: a free one' },
    host: {
      type: 'string',
      value: 'HOST',
      text: 'Listen on this address (default: 127.0.0.1); others than loopback need a token',
    },
    driver: {
      type: 'string',
      value: 'DRIVER',
      text: 'Run browsers in containers (docker), as processes (process), or auto (the default)',
    },
    'max-sessions': { type: 'string', value: 'N', text: 'Run at most N browsers at once (default: 10)' },
    forward: {
      type: 'string',
      value: 'PORT,...',
      text: 'Let pages in containers reach these ports of this machine as localhost',
    },
    'stop-when-idle': {
      type: 'string',
      value: 'SECONDS',
      text: 'End after SECONDS without a client, a session, or a run',
    },
  },
  home: 'folder',
} as const satisfies Command;

export const SETUP = {
  name: 'setup',
  usage: ['[options]'],
  summary: 'Check this machine, create the home and the worker image',
  notes: [
    'The worker image is built or pulled if Docker runs.',
    'To upgrade: stop the service, copy the home, install the new version, run',
    '`troupe setup`, and start the service. Its data is converted at the start.',
  ],
  options: {
    brief: { type: 'boolean', text: 'Print only failures, and prepare no worker image' },
    base: {
      type: 'string',
      value: 'IMAGE',
      text: 'Build on IMAGE; debootstrap: build without an image registry',
    },
    'launch-script': { type: 'string', value: 'FILE', text: 'Write a script that starts the service' },
  },
  exitCodes: ['the service can run', 'the service cannot run'],
  home: 'folder',
} as const satisfies Command;

export const DOCTOR = {
  name: 'doctor',
  usage: [''],
  summary: 'Check this machine as setup does, and change nothing',
  notes: ['Each line says what was found, and how to fix it.'],
  options: {},
  exitCodes: ['the service can run', 'the service cannot run'],
  home: 'folder',
} as const satisfies Command;

export const TOKEN = {
  name: 'token',
  usage: ['create|list|revoke [options]'],
  summary: 'Create, list, and revoke access tokens',
  notes: [
    'Once the first one exists, every request needs one.',
    'If the service runs, set `TROUPE_TOKEN` to an admin token.',
  ],
  options: {},
  home: 'folder',
} as const satisfies Command;

/** Another user's service is not found, and must be named. */
const TOKEN_URL = { ...URL_OPTION, text: 'Use the service at URL, such as one that another user runs' } as const;

export const TOKEN_CREATE = {
  name: 'token create',
  usage: ['NAME --role view|run|admin [options]'],
  summary: 'Create an access token, and print it once',
  example: 'troupe token create ci --role run --running 4',
  options: {
    role: { type: 'string', value: 'ROLE', text: 'Set what the token allows: view, run, or admin' },
    running: { type: 'string', value: 'N', text: 'Limit the sessions at once' },
    queued: { type: 'string', value: 'N', text: 'Limit the sessions that wait' },
    'per-minute': { type: 'string', value: 'N', text: 'Limit the sessions started per minute' },
    url: TOKEN_URL,
  },
  home: 'folder',
} as const satisfies Command;

export const TOKEN_LIST = {
  name: 'token list',
  usage: ['[options]'],
  summary: 'List access tokens: id, role, creation, name, limits',
  options: { url: TOKEN_URL },
  home: 'folder',
} as const satisfies Command;

export const TOKEN_REVOKE = {
  name: 'token revoke',
  usage: ['ID [options]'],
  summary: 'Revoke an access token',
  options: { url: TOKEN_URL },
  home: 'folder',
} as const satisfies Command;

export const NODES = {
  name: 'nodes',
  usage: ['[options]'],
  summary: 'List the nodes that share a PostgreSQL database',
  notes: [
    'Each line: id, state (up, draining, lost), running sessions of slots, version,',
    'address, last renewal. If tokens exist, set `TROUPE_TOKEN` to an admin token.',
  ],
  options: { url: URL_OPTION },
  home: 'folder',
} as const satisfies Command;

export const NODES_REMOVE = {
  name: 'nodes remove',
  usage: ['NODE [options]'],
  summary: 'Remove a lost node from the list',
  options: { url: URL_OPTION },
  home: 'folder',
} as const satisfies Command;

export const HEALTH = {
  name: 'health',
  usage: ['[options]'],
  summary: 'Report whether the service accepts work, for health checks',
  options: {
    live: { type: 'boolean', text: 'Report only whether the service answers' },
    url: URL_OPTION,
  },
  exitCodes: ['it does', 'it drains, fails, or does not answer', 'it starts, or is not known to be yours'],
  home: 'folder',
} as const satisfies Command;

export const DRAIN = {
  name: 'drain',
  usage: ['[NODE] [options]'],
  summary: 'Stop a node without losing work',
  notes: [
    'Without NODE, it is the one of this home.',
    'It accepts no new work, and stops when its sessions have ended.',
    'SIGTERM does the same, for "drainTimeout" seconds at most.',
  ],
  options: { url: URL_OPTION },
  home: 'folder',
} as const satisfies Command;

export const MIGRATE = {
  name: 'migrate',
  usage: ['--from FILE [options]'],
  summary: 'Copy a SQLite journal to the PostgreSQL database of this home',
  notes: [
    'The database that "database" of troupe.json names must be empty.',
    'If it fails, nothing was copied. Stored requests get the key of this home.',
  ],
  example: 'troupe migrate --from /srv/old/troupe.db',
  options: {
    from: { type: 'string', value: 'FILE', text: 'Copy this `troupe.db` of a stopped service' },
    key: { type: 'string', value: 'FILE', text: 'Use the key of that journal (default: `troupe.key` beside it)' },
  },
  home: 'folder',
} as const satisfies Command;

export const COMPLETION = {
  name: 'completion',
  usage: ['bash|zsh|fish'],
  summary: 'Print a script that completes commands and options in a shell',
  notes: [
    '- bash: `eval "$(troupe completion bash)"` in `~/.bashrc`',
    '- zsh: `eval "$(troupe completion zsh)"` in `~/.zshrc`, after compinit',
    '- fish: `troupe completion fish > ~/.config/fish/completions/troupe.fish`',
  ],
  options: {},
  words: ['bash', 'zsh', 'fish'],
} as const satisfies Command;
