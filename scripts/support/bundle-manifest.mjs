/**
 * The manifest of an MCP bundle, version 0.3: https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
 * @param pack package.json
 * @param system of the machine whose binaries are in the bundle
 */
export function bundleManifest({ name, version, description, license, engines }, { platform }) {
  return {
    manifest_version: '0.3',
    name,
    display_name: 'Troupe',
    version,
    description,
    author: { name: 'Troupe' },
    license,
    keywords: ['browser', 'testing', 'automation'],
    server: {
      type: 'node',
      entry_point: 'dist/cli.js',
      mcp_config: {
        command: 'node',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
        args: ['${__dirname}/dist/cli.js', 'mcp'],
      },
    },
    tools: [{ name: 'agent_eval', description: 'Runs JavaScript in a real browser of the client’s own.' }],
    compatibility: { platforms: [platform], runtimes: { node: engines.node } },
  };
}
