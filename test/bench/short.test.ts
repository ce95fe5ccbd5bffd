/** Every bench still measures what it says. Sizes are small and limits are ignored: this machine may be busy. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { BENCHES } from '../../bench/benches.ts';
import { awaitPacked } from '../e2e/install.ts';

const RUN = fileURLToPath(new URL('../../bench/run.ts', import.meta.url));

// Packing builds the project again, and the benches run the build.
beforeAll(awaitPacked);

describe('a short run of the bench', () => {
  for (const [name, { hasPrograms = true }] of Object.entries(BENCHES)) {
    it.skipIf(!hasPrograms)(`${name} prints figures that are possible`, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [RUN, name, '--short']);
      const rows = stdout.trim().split('\n').slice(2);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expect(row).toMatch(/^\| .+ \| .* \| -?\d+(\.\d+)?( \S+)?( \(.+\))? \|$/);
    });
  }
});
