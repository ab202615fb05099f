import t from 'tap';
import { jwtExpiry, readTokenAnswer } from '#request-client/engine/oauth/token-answer.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

const token = (more: object = {}) => ({
  kind: 'token',
  token: { accessToken: 'abc', refreshToken: null, expiresIn: null, ...more },
});

const ANSWERS: readonly (readonly [name: string, status: number, text: string, wanted: object])[] = [
  [
    'as the standard has it',
    200,
    '{"access_token":"abc","token_type":"Bearer","expires_in":60,"refresh_token":"r"}',
    token({ refreshToken: 'r', expiresIn: 60 }),
  ],
  ['a form', 200, 'access_token=abc&scope=repo%2Cuser&token_type=bearer', token()],
  ['no kind', 200, '{"access_token":"abc"}', token()],
  ['seconds as text', 200, '{"access_token":"abc","expires_in":"3600"}', token({ expiresIn: 3600 })],
  ['status 201', 201, '{"access_token":"abc"}', token()],
  ['a refresh token that is null', 200, '{"access_token":"abc","refresh_token":null}', token()],
  ['scopes as a list', 200, '{"access_token":"abc","scope":["a","b"]}', token()],
  ['a byte order mark', 200, '\uFEFF {"access_token":"abc"}\n', token()],
  ['the token of a user in it', 200, '{"ok":true,"authed_user":{"access_token":"abc"}}', token()],
  ['an expiry that says nothing', 200, '{"access_token":"abc","expires_in":null}', token()],
  [
    'an error with status 200',
    200,
    '{"error":"bad_verification_code","error_description":"gone"}',
    { kind: 'refused', error: 'bad_verification_code', description: 'gone' },
  ],
  [
    'an error as a form',
    200,
    'error=bad_code&error_description=The+code',
    { kind: 'refused', error: 'bad_code', description: 'The code' },
  ],
  [
    'an error as an object',
    400,
    '{"error":{"message":"Invalid code","type":"OAuthException","code":100}}',
    { kind: 'refused', error: '100', description: 'Invalid code' },
  ],
  [
    'a kind that cannot be sent',
    200,
    '{"access_token":"abc","token_type":"DPoP"}',
    { kind: 'refused', error: 'token_type' },
  ],
  ['a page', 200, '<html>Login</html>', { kind: 'strange' }],
  ['nothing', 204, '', { kind: 'strange' }],
  ['an empty token', 200, '{"access_token":""}', { kind: 'strange' }],
];

for (const [name, status, text, wanted] of ANSWERS) {
  t.test(`a token endpoint's answer is understood: ${name}`, async (t) => {
    t.match(readTokenAnswer(status, text), wanted);
  });
}

t.test('only a JWT with an expiry has one', async (t) => {
  const jwt = (payload: unknown) => `h.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.s`;
  t.equal(jwtExpiry(jwt({ exp: 1000 })), 1_000_000);
  for (const other of ['opaque', 'a.b.c', jwt({}), jwt(null), jwt({ exp: 'x' })]) t.equal(jwtExpiry(other), null);
});
