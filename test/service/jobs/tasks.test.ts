/** What a result says about how it was made, read over HTTP; every answer is checked against the OpenAPI document. */
import { expect, test } from 'vitest';
import type { CueFit, Making } from '../../../src/engines/engine.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../../src/protocol/kind-names.ts';
import { KINDS } from '../../../src/protocol/kinds.ts';
import { readySource, type Scene, startScene, untilJob } from '../harness/scene.ts';

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
  ...{ cues, fit, speed: 1.23456, tempo: 1.98765, seconds: 2, allowedSeconds: 1.5, cutSeconds: 0.55555 },
});

const OWN: Making = {
  engines: [{ step: 'recognize', engine: 'openai large-v3', skipped: [] }],
  fits: [],
};

test.each(JOB_KIND_NAMES)('%s says which engines it used, if one is not built in', async (kind) => {
  const scene = await startScene();
  scene.engines.tellMaking(OWN);
  const { result } = await runJob(scene, kind);
  expect(result.making).toEqual({
    engines: [{ step: 'recognize', engine: 'openai large-v3', skipped: [] }],
    cues: [],
  });
});

test('a built-in engine used instead of a preferred one is named with the one that it replaces', async () => {
  const scene = await startScene();
  scene.engines.tellMaking({
    engines: [{ step: 'speak', engine: 'espeak-ng', skipped: ['openai kokoro', 'sherpa piper-es'] }],
  });
  const { result } = await runJob(scene, 'dubbing');
  expect(result.making.engines).toEqual([
    { step: 'speak', engine: 'espeak-ng', skipped: ['openai kokoro', 'sherpa piper-es'] },
  ]);
});

test('a separation without a voice reports it, though the engine is built in', async () => {
  const scene = await startScene();
  const use = { step: 'separate', engine: 'vloc', skipped: [], silent: true } as const;
  scene.engines.tellMaking({ engines: [use] });
  const { result } = await runJob(scene, 'audio_separation');
  expect(result.making).toEqual({ engines: [use], cues: [] });
});

test('cues that had to be changed are listed with how they were changed, in thousandths', async () => {
  const scene = await startScene();
  const fits = [fitOf('none', [1]), fitOf('speed', [2]), fitOf('tempo', [3, 4]), fitOf('cut', [5])];
  scene.engines.tellMaking({ ...OWN, fits });
  const { result } = await runJob(scene, 'auto_localization');
  const factors = { speed: 1.235, tempo: 1.988, cut_seconds: 0.556 };
  expect(result.making.cues).toEqual([
    { cues: [2], fit: 'speed', ...factors },
    { cues: [3, 4], fit: 'tempo', ...factors },
    { cues: [5], fit: 'cut', ...factors },
  ]);
});

test('a result of the built-in engines alone is as before, whatever they did to cues', async () => {
  const scene = await startScene();
  scene.engines.tellMaking({
    engines: [
      { step: 'separate', engine: 'builtin', skipped: [] },
      { step: 'recognize', engine: 'pocketsphinx', skipped: [] },
      { step: 'translate', engine: 'apertium', skipped: [] },
      { step: 'speak', engine: 'espeak-ng', skipped: [] },
    ],
    fits: [fitOf('cut', [1])],
  });
  const { result } = await runJob(scene, 'auto_localization');
  expect(Object.keys(result)).toEqual(['duration_seconds', 'video']);
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
