import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { Provider } from 'oidc-provider';

/** A real authorization server on loopback, whose user `ada` logs in by opening the page. */
export class LoginServer {
  readonly origin: string;
  /** Token requests that were answered with a token, and with an error. */
  readonly counts = { granted: 0, refused: 0 };
  /** What the user does on the login page. */
  user: 'logs in' | 'refuses' = 'logs in';
  /** Cuts the connections of token requests. */
  offline = false;
  readonly #server: Server;

  private constructor(server: Server, origin: string, clients: readonly object[]) {
    this.#server = server;
    this.origin = origin;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const provider: Provider = new Provider(origin, {
      clients,
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
      cookies: { keys: ['only for tests'] },
      features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
      pkce: { required: () => false, methods: ['S256'] },
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      issueRefreshToken: async (_context: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
        client.grantTypeAllowed('refresh_token'),
      rotateRefreshToken: false,
      findAccount: async (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
      ttl: {
        AccessToken: 600,
        ClientCredentials: 600,
        RefreshToken: 3600,
        AuthorizationCode: 60,
        Interaction: 60,
        Session: 60,
        Grant: 60,
      },
      loadExistingGrant: async (context: {
        oidc: { client: { clientId: string }; session: { accountId: string } };
      }) => {
        const { client, session } = context.oidc;
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid offline_access');
        await grant.save();
        return grant;
      },
    });
    provider.on('grant.success', () => {
      this.counts.granted += 1;
    });
    provider.on('grant.error', () => {
      this.counts.refused += 1;
    });
    const answer = provider.callback();
    server.on('request', (request, response) => {
      const result =
        this.user === 'logs in'
          ? { login: { accountId: 'ada' }, consent: {} }
          : { error: 'access_denied', error_description: '<script>alert(1)</script>' };
      if (request.url === '/token' && this.offline) request.socket.destroy();
      else if (request.url?.startsWith('/interaction/')) void provider.interactionFinished(request, response, result);
      else answer(request, response);
    });
  }

  static async start(clients: readonly object[]): Promise<LoginServer> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return new LoginServer(server, `http://127.0.0.1:${port}`, clients);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
