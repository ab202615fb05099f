export function bundleManifest(
  pack: {
    readonly name: string;
    readonly version: string;
    readonly description: string;
    readonly license: string;
    readonly engines: { readonly node: string };
  },
  system: { readonly platform: string },
): {
  readonly manifest_version: string;
  readonly name: string;
  readonly version: string;
  readonly server: {
    readonly entry_point: string;
    readonly mcp_config: { readonly command: string; readonly args: readonly string[] };
  };
};
