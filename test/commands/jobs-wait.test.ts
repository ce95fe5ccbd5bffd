import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { LINES, startVloc, TRANSLATION } from './support/run-vloc.ts';

test('ids on stdin are waited for together and their results fetched', async () => {
  const vloc = await startVloc();
  vloc.engines.hold();
  const ids: string[] = [];
  for (const [path, body] of [
    ['/v1/subtitle-translations', TRANSLATION],
    ['/v1/subtitle-translations', TRANSLATION],
    ['/v1/dubbings', { subtitle: LINES, target_language: 'es' }],
  ] as const) {
    ids.push((await vloc.caller.post(path, body)).json.id);
  }
  const waiting = vloc.run(['jobs', 'wait', '-', '-o', 'json', '--verbose'], { stdin: ids.join('\n') });
  setTimeout(vloc.engines.letGo, 50);
  const { code, stdout, stderr } = await waiting;
  expect(code).toBe(0);
  expect(JSON.parse(stdout).data.map((row: { id: string; status: string }) => [row.id, row.status])).toEqual(
    ids.map((id) => [id, 'succeeded']),
  );
  expect((await readdir(vloc.folder)).filter((name) => /\.(srt|wav)$/.test(name))).toHaveLength(3);
  // No id is asked for in a collection that is not its own.
  expect(stderr).not.toMatch(/audio-separations\/|auto-localizations\//);
});

test('nothing on stdin is nothing to wait for', async () => {
  const vloc = await startVloc();
  const { code, stdout, stderr } = await vloc.run(['jobs', 'wait', '-'], { stdin: '\n' });
  expect([code, stdout, stderr]).toEqual([0, '', 'No jobs to wait for.\n']);
});
