// SPDX-License-Identifier: Apache-2.0
// The certified provider with one client: node certified_provider.mjs ISSUER REDIRECT_URI ID SECRET
import Provider from 'oidc-provider';

const [issuer, redirectUri, id, secret] = process.argv.slice(2);
const provider = new Provider(issuer, {
  clients: [{ client_id: id, client_secret: secret, redirect_uris: [redirectUri] }],
  claims: { email: ['email', 'email_verified'], profile: ['name'] },
  pkce: { required: () => true },
  findAccount: (_, subject) => ({
    accountId: subject,
    claims: () => ({
      sub: subject,
      email: `${subject}@certified.example.org`,
      email_verified: true,
      name: 'Cora Certified',
    }),
  }),
});
provider.listen(Number(new URL(issuer).port), '127.0.0.1');
