import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStateFolder } from '../../../src/commands/context/state-folder.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const COMMAND = ['translate', 'a.srt', '--from', 'en', '--to', 'es', '--out', 'out'];
const EMBEDDED = { VLOC_BASE_URL: '', VLOC_KEY: '', VLOC_SECRET: '' };

async function startBeside() {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'a.srt'), SRT);
  // A folder that nobody can make, not even root.
  return { ...vloc, env: { VLOC_STATE_DIR: join(vloc.folder, 'a.srt', 'state') } };
}

test('an unusable state folder is reported with the variable that names it', async () => {
  const { run, env } = await startBeside();
  const { code, stderr } = await run([...COMMAND, '--profile', 'local'], { env: { ...env, ...EMBEDDED } });
  expect(code).toBe(10);
  expect(stderr).toContain(
    `cannot use the state folder ${env.VLOC_STATE_DIR}: a part of the path is a file, not a folder`,
  );
  expect(stderr).toContain('Choose another folder. VLOC_STATE_DIR names it.');
  expect(stderr).not.toContain('--out');
});

test('an invalid size of the stage cache is refused before anything is done', async () => {
  const { run } = await startBeside();
  const env = { ...EMBEDDED, VLOC_STAGE_CACHE_MIB: '4 GiB' };
  const { code, stderr } = await run([...COMMAND, '--profile', 'local'], { env });
  expect(code).toBe(4);
  expect(stderr).toContain('VLOC_STAGE_CACHE_MIB is not a whole number: 4 GiB');
});

test('a run with a service elsewhere needs no records of this machine, and says that it has none', async () => {
  const { run, env } = await startBeside();
  const { code, stderr } = await run(COMMAND, { env });
  expect(code).toBe(0);
  expect(stderr).toContain(`cannot write ${env.VLOC_STATE_DIR}`);
  expect(stderr).toContain(
    'The run continues: the folder of the results has its own record. VLOC_STATE_DIR names',
  );
});

test('a state folder in which no keys can be created is reported with the option that names it', async () => {
  const { run, env } = await startBeside();
  const { code, stderr } = await run(['serve', 'keys', 'create', '--state-dir', env.VLOC_STATE_DIR]);
  expect(code).toBe(10);
  expect(stderr).toContain('Choose another folder. --state-dir names it.');
  expect((await run(['serve', 'keys', 'create'], { env })).stderr).toContain('VLOC_STATE_DIR names it.');
});

test('the cause may be a store that cannot be written, and other errors are not changed', async () => {
  const READONLY = 8;
  const refused = Object.assign(new Error('attempt to write a readonly database'), { errcode: READONLY });
  const opening = openStateFolder('/state', '--state-dir', () => Promise.reject(refused));
  await expect(opening).rejects.toMatchObject({
    facts: { category: 'disk', advice: 'Choose a folder on another disk. --state-dir names it.' },
  });
  const foreign = Object.assign(new Error('no'), { code: 'EACCES', path: '/elsewhere' });
  await expect(openStateFolder('/state', '--state-dir', () => Promise.reject(foreign))).rejects.toBe(foreign);
});
