/** Runs the example of docs/library.md unchanged. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { makeFolder } from '../support/make-folder.ts';

const ENTRIES = { vloc: '../../src/client/index.ts', 'vloc/service': '../../src/service/index.ts' };

/** The block of code, with the package's own sources instead of the package. */
async function readExample(): Promise<string> {
  const page = await readFile(new URL('../../docs/library.md', import.meta.url), 'utf8');
  const [, code] =
    /run by test\/service\/index\.example\.test\.ts -->\n```ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
  if (code === undefined) throw new Error('docs/library.md has no example of the service');
  return Object.entries(ENTRIES).reduce(
    (text, [name, path]) => text.replace(`from '${name}';`, `from '${new URL(path, import.meta.url)}';`),
    code,
  );
}

test('the example of the service in docs/library.md works', async () => {
  const file = join(makeFolder(), 'example.ts');
  await writeFile(file, await readExample());
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  await import(pathToFileURL(file).href);
  expect(log.mock.calls).toEqual([['succeeded', ['GET /assets/{job_id}/{name}']]]);
  log.mockRestore();
});
