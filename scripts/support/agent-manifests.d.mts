export function agentManifests(pkg: {
  readonly mcpName: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
}): { readonly [path: string]: object };
