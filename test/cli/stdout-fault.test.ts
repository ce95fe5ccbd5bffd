/** Runs whose stdout takes nothing, as that of `> /dev/full`. */
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { startVloc } from '../commands/support/run-vloc.ts';
import { TRANSLATION } from '../service/harness/scene.ts';
import { runMain } from '../support/run-main.ts';

/** Refuses every write with that code, as the stdout of Node does, which stays open. */
function broken(code: string): Writable {
  return new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: refused`), { code })),
  });
}

async function run(words: readonly string[], stdout: Writable, env: Record<string, string> = {}) {
  const { code, stderr } = await runMain(words, { env, stdout });
  return { code, stderr };
}

it('a full disk for stdout ends a run with 10, reported once and without a stack', async () => {
  const { env, caller } = await startVloc();
  await caller.post('/v1/subtitle-translations', TRANSLATION);
  const { code, stderr } = await run(['jobs', 'list'], broken('ENOSPC'), env);
  expect(code).toBe(10);
  expect(stderr.match(/cannot write to stdout: the disk is full/g)).toHaveLength(1);
  expect(stderr).toContain('Or send the output elsewhere');
  expect(stderr).not.toContain('   at ');
});

it('it is reported in the requested form', async () => {
  const { env } = await startVloc();
  const { code, stderr } = await run(['credits', '-o', 'json'], broken('ENOSPC'), env);
  expect(code).toBe(10);
  expect(JSON.parse(stderr)).toMatchObject({ error: { category: 'disk', code: 'STDOUT_UNWRITABLE' } });
});

it('a failure of the command itself is reported along with it', async () => {
  const { env, caller } = await startVloc();
  const made = await caller.post('/v1/subtitle-translations', TRANSLATION);
  const asked = ['jobs', 'get', made.json.id, 'trl_unknown', '-o', 'ndjson'];
  const { code, stderr } = await run(asked, broken('ENOSPC'), env);
  expect(code).toBe(10);
  expect(stderr).toContain('trl_unknown');
});

it('help reports it too', async () => {
  const { code, stderr } = await run(['--help'], broken('ENOSPC'));
  expect(code).toBe(10);
  expect(stderr).toContain('cannot write to stdout');
});

it('a reader that closes the pipe early is not a failure', async () => {
  const { env } = await startVloc();
  expect(await run(['--help'], broken('EPIPE'))).toEqual({ code: 0, stderr: '' });
  expect((await run(['credits'], broken('EPIPE'), env)).code).toBe(0);
});
