/** Provenance of results: kept beside the result, and not returned by any operation. */

import { expect, test, vi } from 'vitest';
import type { EngineProvenance } from '../../../src/engines/engine.ts';
import type { CueFit } from '../../../src/media/work.ts';
import type { JobKind } from '../../../src/protocol/kind-names.ts';
import { KINDS } from '../../../src/protocol/kinds.ts';
import { createLogWriter } from '../../../src/service/log.ts';
import { readySource, type Scene, startScene, untilJob } from '../harness/scene.ts';
import { changeStore } from '../harness/stores.ts';

const LINES = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];

async function runJob({ caller }: Scene, kind: JobKind) {
  const input =
    KINDS[kind].input === 'video'
      ? { source: await readySource(caller) }
      : { subtitle: { type: 'lines', lines: LINES } };
  const target = 'target_language' in KINDS[kind].fields ? { target_language: 'es' } : {};
  const language = 'source_language' in KINDS[kind].fields ? { source_language: 'en' } : {};
  const created = await caller.post(`/v1/${KINDS[kind].path}`, { ...input, ...target, ...language });
  return untilJob(caller, created.json, 'succeeded');
}

const fitOf = (fit: CueFit['fit'], cues: readonly number[]): CueFit => ({
  ...{
    cues,
    shifts: cues.map(() => 0),
    fit,
    speed: 1.23456,
    tempo: 1.98765,
    seconds: 2,
    allowedSeconds: 1.5,
    cutSeconds: 0.55555,
  },
});

const OWN: EngineProvenance = {
  engines: [{ step: 'recognize', engine: 'openai large-v3', skipped: [] }],
  fits: [],
};

test('the provenance of a result is kept beside it, not in it', async () => {
  const scene = await startScene();
  scene.engines.reportProvenance(OWN);
  const { id, result } = await runJob(scene, 'dubbing');
  expect(Object.keys(result).sort()).toEqual(Object.keys(KINDS.dubbing.result).sort());
  expect(await scene.service.readProvenance(id)).toEqual({
    engines: [{ step: 'recognize', engine: 'openai large-v3', skipped: [] }],
    cues: [],
  });
});

test('cues that had to be changed are listed with how they were changed, in thousandths', async () => {
  const scene = await startScene();
  const fits = [fitOf('none', [1]), fitOf('speed', [2]), fitOf('tempo', [3, 4]), fitOf('cut', [5])];
  scene.engines.reportProvenance({ ...OWN, fits });
  const { id } = await runJob(scene, 'auto_localization');
  const factors = { speed: 1.235, tempo: 1.988, cut_seconds: 0.556 };
  expect((await scene.service.readProvenance(id))?.cues).toEqual([
    { cues: [2], fit: 'speed', ...factors },
    { cues: [3, 4], fit: 'tempo', ...factors },
    { cues: [5], fit: 'cut', ...factors },
  ]);
});

test('cues whose words are more than 0.6 s from their time are listed by themselves, however they are spoken', async () => {
  const scene = await startScene();
  const natural = {
    ...fitOf('none', [1, 2, 3]),
    speed: 1,
    tempo: 1,
    cutSeconds: 0,
    shifts: [-0.3, 0.6, -0.8],
  };
  const fast = { ...fitOf('speed', [4, 5]), cutSeconds: 0, shifts: [0, 0.70001] };
  scene.engines.reportProvenance({ ...OWN, fits: [natural, fast, { ...fitOf('cut', [6]), shifts: [2] }] });
  const { id } = await runJob(scene, 'dubbing');
  const none = { speed: 1, tempo: 1, cut_seconds: 0 };
  const factors = { speed: 1.235, tempo: 1.988 };
  expect((await scene.service.readProvenance(id))?.cues).toEqual([
    { cues: [3], fit: 'shift', ...none, shift_seconds: -0.8 },
    { cues: [4], fit: 'speed', ...factors, cut_seconds: 0 },
    { cues: [5], fit: 'speed', ...factors, cut_seconds: 0, shift_seconds: 0.7 },
    { cues: [6], fit: 'cut', ...factors, cut_seconds: 0.556 },
  ]);
  const entry = await vi.waitUntil(() => scene.logged.find(({ resourceId }) => resourceId === id));
  const lines: string[] = [];
  createLogWriter('text', (line) => lines.push(line), Date.now).log(entry);
  expect(lines[0]).toContain('2 texts spoken faster, 1 text cut off, 2 texts out of time');
});

test('a finished job is logged with its provenance, in words and as JSON', async () => {
  const scene = await startScene();
  const separation = { step: 'separate', engine: 'builtin', skipped: [], silent: true } as const;
  const dub = { step: 'speak', engine: 'espeak-ng', skipped: ['openai kokoro'], reused: true } as const;
  scene.engines.reportProvenance({
    engines: [separation, dub],
    fits: [fitOf('tempo', [1]), fitOf('cut', [2])],
  });
  const { id } = await runJob(scene, 'auto_localization');
  const entry = await vi.waitUntil(() => scene.logged.find(({ resourceId }) => resourceId === id));
  const lines: string[] = [];
  for (const form of ['text', 'json'] as const)
    createLogWriter(form, (line) => lines.push(line), Date.now).log(entry);
  expect(lines[0]).toContain(
    `info a job succeeded: separate builtin (no voice found), speak espeak-ng instead of openai kokoro (reused), 1 text spoken faster, 1 text cut off ${id}`,
  );
  expect(JSON.parse(lines[1] ?? '').provenance).toEqual(await scene.service.readProvenance(id));
});

test('a result that an earlier version stored with its provenance is returned without it', async () => {
  const scene = await startScene();
  const { id } = await runJob(scene, 'dubbing');
  const added = `json_set(result, '$.values.making', json('{"engines": [], "cues": []}'))`;
  changeStore(scene.stateDir, `UPDATE jobs SET result = ${added}`);
  const { json } = await scene.caller.get(`/v1/dubbings/${id}`);
  expect(Object.keys(json.result).sort()).toEqual(['audio', 'duration_seconds']);
});

test('the engines are closed once, after the last job, when the service closes', async () => {
  const scene = await startScene();
  scene.engines.hold();
  await scene.caller.post('/v1/dubbings', {
    subtitle: { type: 'lines', lines: LINES },
    target_language: 'es',
  });
  await expect.poll(() => scene.engines.begun.length).toBe(1);
  expect(scene.engines.closed.count).toBe(0);
  await scene.service.close();
  await scene.service.close();
  expect(scene.engines.begun[0]?.aborted).toBe(true);
  expect(scene.engines.closed.count).toBe(1);
});

test('engines that do not close are logged, and the service closes', async () => {
  const scene = await startScene();
  scene.engines.close = async () => {
    throw new Error('a model is stuck');
  };
  await scene.service.close();
  expect(scene.logged).toContainEqual(
    expect.objectContaining({ level: 'warn', message: 'the engines did not close' }),
  );
});
