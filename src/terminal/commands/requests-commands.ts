import type { Command } from './command.js';

/** Options of the commands that send requests. They win over the saved settings. */
const CONNECTION_OPTIONS = {
  proxy: {
    type: 'string',
    value: 'URL|none',
    text: 'Use this proxy, or none (default: HTTP_PROXY and HTTPS_PROXY)',
    group: 'Connection',
  },
  'no-proxy': {
    type: 'string',
    value: 'HOST,...',
    text: 'Reach these hosts without the proxy',
    group: 'Connection',
  },
  ca: {
    type: 'string',
    value: 'FILE',
    multiple: true,
    text: 'Also trust this certificate authority (PEM)',
    group: 'Connection',
  },
  cert: {
    type: 'string',
    value: 'HOST=FILE',
    multiple: true,
    text: 'Use a client certificate for HOST: FILE.pfx, or CERT.pem,KEY.pem',
    group: 'Connection',
  },
  passphrase: {
    type: 'string',
    value: 'VARIABLE',
    text: 'Read the passphrase of client certificates from this environment variable',
    group: 'Connection',
  },
} as const;

export const REQUESTS = {
  name: 'requests',
  usage: ['[COLLECTION.json] [options]'],
  summary: 'Send HTTP requests, and run Postman collections',
  notes: [
    'Opens a window: paste a curl command there, and send it.',
    'A `COLLECTION.json` that does not exist is created.',
  ],
  options: {
    env: {
      type: 'string',
      value: 'FILE',
      multiple: true,
      text: 'Open this environment of Postman',
      group: 'Window',
      main: true,
    },
    port: { type: 'string', value: 'N', text: 'Serve the window on this port', group: 'Window', main: true },
    'no-open': { type: 'boolean', text: 'Only print the address of the window', group: 'Window', main: true },
    ...CONNECTION_OPTIONS,
  },
} as const satisfies Command;

export const REQUESTS_IMPORT = {
  name: 'requests import',
  usage: ['[FILE] [options]'],
  summary: 'Read curl commands and files of other tools, and print them',
  notes: [
    'Reads FILE, or standard input.',
    'Formats: curl, fetch, HAR, OpenAPI 3, Swagger 2, Insomnia 4 and 5, Bruno,',
    'Postman v1 and v2, environments. The format is detected.',
  ],
  example: 'troupe requests import openapi.yaml --into shop.json',
  options: {
    json: { type: 'boolean', text: 'Print the requests as one JSON value' },
    lines: {
      type: 'boolean',
      text: 'Read one curl command per line, each a JSON string, and print one JSON value per line',
    },
    to: { type: 'string', value: 'SHELL', text: 'Print curl commands for a shell: sh, cmd, or powershell' },
    into: {
      type: 'string',
      value: 'FILE',
      text: 'Add the requests to a Postman collection, and write environments beside it',
    },
  },
  exitCodes: ['everything was imported', 'something could not be imported'],
} as const satisfies Command;

export const REQUESTS_EXPORT = {
  name: 'requests export',
  usage: ['COLLECTION.json --to FORMAT [options]'],
  summary: 'Write a Postman collection for another tool',
  notes: ['What the other format cannot hold is listed on standard error.'],
  example: 'troupe requests export shop.json --to insomnia --out insomnia.yaml',
  options: {
    to: { type: 'string', value: 'FORMAT', text: 'Write har, insomnia (version 5), bruno, or curl' },
    out: { type: 'string', value: 'FILE', text: 'Write a new file (default: standard output)' },
  },
} as const satisfies Command;

export const REQUESTS_RUN = {
  name: 'requests run',
  usage: ['COLLECTION.json [options]'],
  summary: 'Send the requests of a collection, and run their tests',
  example: 'troupe requests run shop.json --env staging.json --junit results.xml',
  options: {
    env: {
      type: 'string',
      value: 'FILE',
      text: 'Read variables from an environment of Postman, or a JSON object',
      group: 'Run',
      main: true,
    },
    data: {
      type: 'string',
      value: 'FILE',
      text: 'Run once for each row of a JSON list or a CSV file',
      group: 'Run',
      main: true,
    },
    iterations: {
      type: 'string',
      value: 'N',
      text: 'Run N times; after the last row of `--data`, it is repeated',
      group: 'Run',
      main: true,
    },
    folder: { type: 'string', value: 'NAME', text: 'Run only this folder or request', group: 'Run', main: true },
    junit: { type: 'string', value: 'FILE', text: 'Write a JUnit report', group: 'Run', main: true },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      text: 'Limit the time of each request (default: 60)',
      group: 'Run',
      main: true,
    },
    ...CONNECTION_OPTIONS,
  },
  exitCodes: ['every request and test passed', 'a request or a test failed', 'the run could not start'],
} as const satisfies Command;
