// The files by which registries and agents find Troupe's MCP server and skill. Name, version, and description come from
// package.json alone. `npm version` writes them; a test compares them with what is there.

const DESCRIPTION = 'A real browser for agents: one tool runs scripts that look at pages and act on them.';
const COMMAND = { command: 'troupe', args: ['mcp'] };

/** Their contents by path. @param pkg package.json */
export function agentManifests({ mcpName, name, version, license }) {
  const own = { name: 'troupe', version, description: DESCRIPTION };
  return {
    // The MCP registry: https://github.com/modelcontextprotocol/registry
    'server.json': {
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: mcpName,
      title: 'Troupe browser',
      description: DESCRIPTION,
      version,
      packages: [
        {
          registryType: 'npm',
          identifier: name,
          version,
          transport: { type: 'stdio' },
          packageArguments: [{ type: 'positional', value: 'mcp' }],
          environmentVariables: [
            {
              name: 'TROUPE_URL',
              description: 'The address of a running service; without it, one is found or started.',
            },
            { name: 'TROUPE_TOKEN', description: 'The access token, if the service needs one.', isSecret: true },
          ],
        },
      ],
    },
    // Claude Code finds skills/ beside it by itself.
    '.claude-plugin/plugin.json': { ...own, license, mcpServers: { troupe: COMMAND } },
    '.claude-plugin/marketplace.json': {
      name: 'troupe',
      owner: { name: 'Troupe' },
      plugins: [{ ...own, source: './' }],
    },
    // Gemini CLI reads the skill as the extension's context.
    'gemini-extension.json': { ...own, mcpServers: { troupe: COMMAND }, contextFileName: 'skills/troupe/SKILL.md' },
  };
}
