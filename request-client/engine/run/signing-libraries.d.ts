declare module 'aws4' {
  interface SignedRequest {
    readonly host: string;
    readonly path?: string;
    readonly method: string;
    readonly service: string;
    readonly region: string;
    readonly signQuery: boolean;
    readonly headers?: Readonly<Record<string, string | number>>;
    readonly body?: Buffer;
  }
  interface Credentials {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  }
  const aws4: { sign(request: SignedRequest, credentials: Credentials): SignedRequest };
  export default aws4;
}

declare module '@hapi/hawk' {
  const hawk: { client: { header(url: string, method: string, options: object): { readonly header: string } } };
  export default hawk;
}

declare module 'httpntlm/ntlm.js' {
  interface Identity {
    readonly username: string;
    readonly password: string;
    readonly domain: string;
    readonly workstation: string;
  }
  const ntlm: {
    createType1Message(identity: Identity): string;
    parseType2Message(header: string, failed: (error: Error) => void): object | undefined;
    createType3Message(challenge: object, identity: Identity): string;
  };
  export default ntlm;
}
