/** The example in Python of docs/control.md is run unchanged, with this checkout as `vloc`. */
import { execFile, spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeFolder } from '../../support/make-folder.ts';

const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;
const ENTRY = fileURLToPath(new URL('../../cli/support/run.ts', import.meta.url));

async function readExample(): Promise<string> {
  const page = await readFile(new URL('../../../docs/control.md', import.meta.url), 'utf8');
  const [, code] = /^```python\n([\s\S]*?)^```$/m.exec(page) ?? [];
  if (code === undefined) throw new Error('docs/control.md has no example');
  return code;
}

test.skipIf(!HAS_PYTHON)(
  'the example in Python moves the clock and signs by it (needs python3)',
  async () => {
    const folder = makeFolder();
    await writeFile(join(folder, 'vloc'), `#!/bin/sh\nexec '${process.execPath}' '${ENTRY}' "$@"\n`);
    await chmod(join(folder, 'vloc'), 0o755);
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, TMPDIR: folder };
    const { stdout } = await promisify(execFile)('python3', ['-c', await readExample()], { env });
    expect(stdout).toBe('100002.5 90000\nwaiting_for_upload\n1\n');
  },
);
