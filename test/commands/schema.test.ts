import { expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { OPERATIONS } from '../../src/protocol/operations.ts';
import { createTestIo } from '../support/test-io.ts';

async function run(env: Record<string, string>, ...words: string[]) {
  const { io, stdout } = createTestIo({ env });
  expect(await main(['schema', ...words], io)).toBe(0);
  return stdout();
}

test('the document is printed without a service, for the service of the environment', async () => {
  const plain = JSON.parse(await run({}));
  expect([plain.openapi, plain.servers]).toEqual(['3.1.0', [{ url: '/v1' }]]);
  const env = { VLOC_BASE_URL: 'https://api.example.com/v1/', VLOC_HEADER_PREFIX: 'X-Vendor' };
  const hosted = JSON.parse(await run(env, '--output', 'ndjson'));
  expect(hosted.servers).toEqual([{ url: 'https://api.example.com/v1' }]);
  expect(hosted.components.securitySchemes.nonce.name).toBe('X-Vendor-Nonce');
});

test('--output id prints the names of the operations', async () => {
  expect((await run({}, '-o', 'id')).trim().split('\n')).toEqual(OPERATIONS.map((each) => each.operationId));
});
