/** What `--help` prints of one command: how it is called, and what it does. */
export interface CommandHelp {
  readonly usage: readonly string[];
  /** One sentence. */
  readonly summary: string;
  readonly more: string;
  /** Help of the command's own commands. */
  readonly parts?: { readonly [name: string]: CommandHelp };
  /** Where its home is, if that is not the current folder by default. */
  readonly home?: string;
}

const home = `The home is $TROUPE_HOME, by default a folder of the user. Uses the service at --url or TROUPE_URL, else the one that runs
for the home, else one that it starts, which ends when it was not used for five minutes. TROUPE_TOKEN is the access token.
`;

const SESSION = `  --session ID          the session; else the one in TROUPE_SESSION, else the one that was made last
Exit code: 0 done, 1 the page did not do it, 2 it could not run (no service, no session).`;

/** The commands with which agents use a browser from a shell. */
export const AGENT_COMMANDS: { readonly [command: string]: CommandHelp } = {
  session: {
    usage: [
      'troupe session create [--name TEXT] [--viewport WxH] [--locale TAG] [--forward PORT,...] [--idle-timeout SECONDS]',
      'troupe session list [--all] | delete [ID] [--url URL]',
    ],
    summary: 'Creates, lists, and deletes browser sessions.',
    more: `create prints the id of the session, which later commands use. list marks that one with *; --all shows ended ones and
jobs, too. delete without ID deletes that one.
  --viewport WxH        the size of the page, such as 1280x720
  --locale TAG          the language, such as de-DE
  --forward PORT,...    ports of this machine that pages in containers reach as localhost
  --idle-timeout N      the session ends after N seconds without a command; 300 by default`,
    home,
  },
  go: {
    usage: ['troupe go URL [--look] [--session ID] [--url URL]'],
    summary: 'Opens an address in the session; makes a session if there is none.',
    more: `  --look                then print the controls of the page
${SESSION}`,
    home,
  },
  look: {
    usage: ['troupe look [--full] [--within LOCATOR] [--session ID] [--url URL]'],
    summary: 'Lists the controls of the page, one a line; later, what has changed of them.',
    more: `  --full                the whole list again
  --within LOCATOR      only what is in this element
${SESSION}`,
    home,
  },
  act: {
    usage: ['troupe act LOCATOR ACTION [VALUE] [--look] [--json] [--timeout MS] [--session ID] [--url URL]'],
    summary: 'Acts on a control: click, input, select, check, press, hover, upload, drag, and others.',
    more: `Example: troupe act '{input}Search' input 'lamp' && troupe act '{button}Go' click --look
  --look                then print what has changed
  --json                VALUE is JSON, such as ["Red", "Blue"] for select
  --timeout MS          how long to wait until the control can take the action; 10000 by default
${SESSION}`,
    home,
  },
  text: {
    usage: ['troupe text [LOCATOR] [--session ID] [--url URL]'],
    summary: 'Prints the visible text of the page, or of one element.',
    more: SESSION,
    home,
  },
  shot: {
    usage: ['troupe shot [FILE] [--within LOCATOR] [--marks] [--session ID] [--url URL]'],
    summary: 'Saves a picture of the page as PNG, and prints its path.',
    more: `  --within LOCATOR      only this element
  --marks               with the numbers of the last look
${SESSION}`,
    home,
  },
  skill: {
    usage: ['troupe skill [NAME]'],
    summary: 'Prints what an agent must know to use Troupe, as Markdown (SKILL.md).',
    more: 'NAME is one of its reference files: flows, failures.',
  },
  mcp: {
    usage: ['troupe mcp [--url URL]'],
    summary: 'Serves MCP over standard input and output, for agents that start their servers.',
    more: 'Passes messages on to /mcp of a service. Nothing but messages is on standard output; it ends with its input.',
    home,
  },
};
