import { PROMPT_SECTIONS, renderSections, WORKING_RULES } from './sections.js';

/** Clients cut instructions at 2,000 characters: the calls are left to the tool's own description. */
const TOLD = new Set(['look', 'locators', 'errors']);

/** What an MCP client tells its model of the server: how to begin and how to work. At most 2,000 characters. */
export const MCP_INSTRUCTIONS = `agent_eval runs scripts in a real browser that is yours from the first one on. Begin with
agent.go("https://..."); agent.look()

${WORKING_RULES}

${renderSections(
  PROMPT_SECTIONS.filter(({ id }) => TOLD.has(id)),
  1,
)}`;
