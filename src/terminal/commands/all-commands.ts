import * as agent from './agent-commands.js';
import type { Command } from './command.js';
import * as requests from './requests-commands.js';
import * as run from './run-commands.js';
import * as service from './service-commands.js';

/** The commands that `troupe --help` explains, in its order, with a blank line before the last. */
export const FIRST_COMMANDS: readonly Command[] = [
  service.DASHBOARD,
  run.RUN,
  run.WHY,
  run.EVAL,
  requests.REQUESTS,
  agent.MCP,
  service.SETUP,
];

/** Every command and subcommand. Subcommands follow theirs. */
export const ALL_COMMANDS: readonly Command[] = [
  service.DASHBOARD,
  run.RUN,
  run.WHY,
  run.EVAL,
  requests.REQUESTS,
  requests.REQUESTS_RUN,
  requests.REQUESTS_IMPORT,
  requests.REQUESTS_EXPORT,
  agent.MCP,
  service.SETUP,
  service.DOCTOR,
  run.MERGE,
  run.FLOW,
  run.FLOW_CHECK,
  run.FLOW_TYPES,
  run.TYPES,
  agent.SESSION,
  agent.SESSION_CREATE,
  agent.SESSION_LIST,
  agent.SESSION_DELETE,
  agent.GO,
  agent.LOOK,
  agent.ACT,
  agent.TEXT,
  agent.SHOT,
  agent.SKILL,
  service.TOKEN,
  service.TOKEN_CREATE,
  service.TOKEN_LIST,
  service.TOKEN_REVOKE,
  service.NODES,
  service.NODES_REMOVE,
  service.HEALTH,
  service.DRAIN,
  service.MIGRATE,
  service.COMPLETION,
];
