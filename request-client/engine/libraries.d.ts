// What is used of packages that `npm run build` makes part of a module (scripts/build.mjs).
declare module 'yaml' {
  export function parse(text: string, options: { readonly maxAliasCount: number; readonly logLevel: 'error' }): unknown;
  export function stringify(
    value: unknown,
    options: { readonly lineWidth: number; readonly aliasDuplicateObjects: boolean },
  ): string;
}

declare module '@readme/httpsnippet' {
  interface SnippetRequest {
    readonly method: string;
    readonly url: string;
    readonly httpVersion: string;
    readonly cookies: readonly never[];
    readonly queryString: readonly never[];
    readonly headers: readonly { readonly name: string; readonly value: string }[];
    readonly postData?: { readonly mimeType: string; readonly text: string };
  }
  export class HTTPSnippet {
    constructor(request: SnippetRequest, options: { readonly harIsAlreadyEncoded: boolean });
    convert(target: string, client: string): string | readonly string[] | false;
  }
}
