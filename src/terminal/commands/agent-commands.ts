import type { Command } from './command.js';

const URL_OPTION = {
  type: 'string',
  value: 'URL',
  text: 'Use the service at URL (default: `TROUPE_URL`, else one of the home)',
} as const;

/** The options of every command that uses a session. */
const SESSION_OPTIONS = {
  session: {
    type: 'string',
    value: 'ID',
    text: 'Use this session (default: `TROUPE_SESSION`, else the one created last)',
  },
  url: URL_OPTION,
} as const;

const FORWARD = {
  type: 'string',
  value: 'PORT,...',
  text: "Let pages in containers reach these ports of the service's machine as localhost",
} as const;

const NOT_RUN = 'it could not run: no service, or no session';
const EXIT_CODES = ['done', 'the page did not do it', NOT_RUN] as const;
/** Of commands that touch no page. */
const SESSION_EXIT_CODES = ['done', 'it failed', NOT_RUN] as const;

export const SESSION = {
  name: 'session',
  usage: ['create|list|delete [options]'],
  summary: 'Create, list, and delete browser sessions',
  options: {},
  home: 'user',
} as const satisfies Command;

export const SESSION_CREATE = {
  name: 'session create',
  usage: ['[options]'],
  summary: 'Create a session, which later commands use, and print its id',
  example: 'troupe session create --viewport 390x844 --locale de-DE',
  options: {
    name: { type: 'string', value: 'TEXT', text: 'Name the session in the dashboard and in lists' },
    viewport: { type: 'string', value: 'WxH', text: 'Set the size of the page, such as 1280x720' },
    locale: { type: 'string', value: 'TAG', text: 'Set the language, such as de-DE' },
    forward: FORWARD,
    'idle-timeout': {
      type: 'string',
      value: 'SECONDS',
      text: 'End the session after SECONDS without a command (default: 300)',
    },
    url: URL_OPTION,
  },
  exitCodes: SESSION_EXIT_CODES,
  home: 'user',
} as const satisfies Command;

export const SESSION_LIST = {
  name: 'session list',
  usage: ['[options]'],
  summary: 'List running sessions; * marks the one that commands use',
  options: {
    all: { type: 'boolean', text: 'Also list ended sessions and those of runs' },
    url: URL_OPTION,
  },
  exitCodes: SESSION_EXIT_CODES,
  home: 'user',
} as const satisfies Command;

export const SESSION_DELETE = {
  name: 'session delete',
  usage: ['[ID] [options]'],
  summary: 'Delete a session; without ID, the one that commands use',
  options: { url: URL_OPTION },
  exitCodes: SESSION_EXIT_CODES,
  home: 'user',
} as const satisfies Command;

export const GO = {
  name: 'go',
  usage: ['URL [options]'],
  summary: 'Open an address; create a session if there is none',
  example: 'troupe go https://example.com --look',
  options: {
    look: { type: 'boolean', text: 'Then list the controls of the page' },
    ...SESSION_OPTIONS,
  },
  exitCodes: EXIT_CODES,
  home: 'user',
} as const satisfies Command;

export const LOOK = {
  name: 'look',
  usage: ['[options]'],
  summary: 'List the controls of the page; later, what has changed',
  example: "troupe look --within '{dialog}'",
  options: {
    full: { type: 'boolean', text: 'List all controls again' },
    within: { type: 'string', value: 'LOCATOR', text: 'List only what is in this element' },
    ...SESSION_OPTIONS,
  },
  exitCodes: EXIT_CODES,
  home: 'user',
} as const satisfies Command;

export const ACT = {
  name: 'act',
  usage: ['LOCATOR ACTION [VALUE] [options]'],
  summary: 'Act on a control: click, input, select, press, and others',
  example: `troupe act '{input}Search' input 'lamp' --look`,
  options: {
    look: { type: 'boolean', text: 'Then list what has changed' },
    json: { type: 'boolean', text: 'Read VALUE as JSON, such as ["Red", "Blue"] for select' },
    timeout: {
      type: 'string',
      value: 'MS',
      text: 'Limit how long it waits for the control, in milliseconds (default: 10000)',
    },
    ...SESSION_OPTIONS,
  },
  exitCodes: EXIT_CODES,
  home: 'user',
} as const satisfies Command;

export const TEXT = {
  name: 'text',
  usage: ['[LOCATOR] [options]'],
  summary: 'Print the visible text of the page, or of one element',
  options: SESSION_OPTIONS,
  exitCodes: EXIT_CODES,
  home: 'user',
} as const satisfies Command;

export const SHOT = {
  name: 'shot',
  usage: ['[FILE] [options]'],
  summary: 'Save a screenshot of the page as PNG, and print its path',
  options: {
    within: { type: 'string', value: 'LOCATOR', text: 'Save only this element' },
    marks: { type: 'boolean', text: 'Draw the numbers of the last look' },
    ...SESSION_OPTIONS,
  },
  exitCodes: EXIT_CODES,
  home: 'user',
} as const satisfies Command;

export const SKILL = {
  name: 'skill',
  usage: ['[NAME]'],
  summary: 'Print what agents must know to use Troupe (`SKILL.md`)',
  notes: ['NAME is one of its reference files: flows, failures.'],
  options: {},
  words: ['flows', 'failures'],
} as const satisfies Command;

export const MCP = {
  name: 'mcp',
  usage: ['[options]'],
  summary: 'Serve MCP over standard input and output, for agents',
  notes: [
    'Passes messages on to /mcp of the service, and starts the service if none runs.',
    'It ends with its input. `TROUPE_TOKEN` is the access token.',
  ],
  example: 'claude mcp add troupe -- troupe mcp',
  options: { url: URL_OPTION },
  home: 'user',
} as const satisfies Command;
