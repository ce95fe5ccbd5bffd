import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../../src/protocol/error-codes.ts';
import { send } from '../harness/caller.ts';
import { startScene } from '../harness/scene.ts';

test('the page that a problem points to explains it', async () => {
  const { service } = await startScene();
  const refused = await send(`${service.url}/nothing`);
  expect(refused.json.type).toBe(`${service.docsUrl}/errors/resource_not_found`);
  for (const [code, row] of Object.entries(ERROR_CODES)) {
    const page = await send(`${service.docsUrl}/errors/${code.toLowerCase()}`);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(page.bytes.toString()).toContain(row.advice);
  }
  expect((await send(`${service.docsUrl}/errors/no_such_error`)).status).toBe(404);
  expect((await send(`${service.docsUrl}/errors/INTERNAL_ERROR`)).status).toBe(404);
});
