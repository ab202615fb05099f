import { PROMPT_SECTIONS, renderSections, WORKING_RULES } from './sections.js';

/** Clients cut instructions at 2,000 characters: calls and looks are left to the tool's own description. */
const TOLD = new Set(['locators', 'actions']);

const OWN = 'that is yours from the first one on. Begin with\nagent.go("https://..."); agent.look()';
/** For clients without an MCP session. */
const NAMED = `that the first one starts. Its result names a sessionId:
pass it with each further call. Begin with agent.go("https://..."); agent.look()`;

/** What an MCP client tells its model of the server: how to begin and how to work. At most 2,000 characters. */
export const MCP_INSTRUCTIONS = instructions(OWN);

/** The same for clients of revision 2026-07-28, which name their browser with each call. */
export const STATELESS_MCP_INSTRUCTIONS = instructions(NAMED);

function instructions(browser: string): string {
  return `agent_eval runs scripts in a real browser ${browser}

${WORKING_RULES}

A new tab is in front at once; agent.tabs(), agent.tab(0). An open dialog is {dialog}OK, {dialog}Cancel, {dialog}Input.
Every agent.screenshot() of a script comes back, {marks: true} with locators on it. Errors say what to do; steps before
them have happened. A script has a minute; the end of the session is announced.

${renderSections(
  PROMPT_SECTIONS.filter(({ id }) => TOLD.has(id)),
  1,
)}`;
}
