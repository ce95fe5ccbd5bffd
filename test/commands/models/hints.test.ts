/** Other commands that speak of models. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ffmpeg, speechClip } from '../../engines/workspace.ts';
import { writeTinyCatalog } from '../../support/tiny-catalog.ts';
import { type ModelsDesk, openModelsDesk } from './desk.ts';

let desk: ModelsDesk;
beforeEach(async () => {
  desk = await openModelsDesk();
});

/** Two seconds of speech with a small picture. */
function makeTalk(): void {
  const picture = ['-f', 'lavfi', '-i', 'color=s=64x48:r=5:d=2', '-c:v', 'libx264', '-preset', 'ultrafast'];
  ffmpeg('-i', speechClip('0880'), ...picture, '-t', '2', '-c:a', 'aac', join(desk.folder, 'talk.mp4'));
}

it('a job in a language without an engine names the model, its size and the command', async () => {
  makeTalk();
  const recognize = (from: string) =>
    desk.call(['recognize', 'talk.mp4', '--from', from, '--profile', 'local']);
  const { code, stderr } = await recognize('es');
  expect(code).toBe(2);
  expect(stderr).toMatch(/Or download tiny-ears \(1\.\d kB\): vloc models install tiny-ears/);
  // No model of this catalogue recognizes it.
  expect((await recognize('de')).stderr).not.toContain('models install');
});

it('the installation of the built-in engines ends with the models that can be used before them', async () => {
  const [ears] = writeTinyCatalog(desk.copies).models;
  const catalog = { version: 1, models: [{ ...ears, languages: ['en'] }] };
  const { stderr } = await desk.call(['engines', 'install'], { catalog });
  expect(stderr).toMatch(
    /To use open models before them, download tiny-ears \(1\.\d kB\): vloc models install tiny-ears\n/,
  );
});

it('an installed model is named in the report of what it made, and checked by vloc doctor', async () => {
  writeFileSync(join(desk.folder, 'talk.en.srt'), '1\n00:00:00,000 --> 00:00:02,000\nand mister had\n');
  await desk.run(['install', 'tiny-voice', '--yes']);
  const words = ['dub', 'talk.en.srt', '--to', 'en', '--profile', 'local', '--out', 'out'];
  expect(await desk.call(words)).toMatchObject({ code: 0 });
  const { stdout } = await desk.call(['batch', 'report', 'out', '-o', 'json']);
  expect(JSON.parse(stdout).attributions).toEqual(['Tiny models by nobody.']);
  expect((await desk.call(['batch', 'report', 'out'])).stdout).toContain('\n\n- Tiny models by nobody');
  await desk.call(['batch', 'report', 'out', '--html']);
  expect(readFileSync(join(desk.folder, 'out', 'report.html'), 'utf8')).toContain('Tiny models by nobody.');
  const look = async () => {
    // Its engines are found by no path: what they are is not asked here.
    const { stdout } = await desk.call(['doctor', '-o', 'json'], { env: { PATH: '' } });
    const checks: { check: string }[] = JSON.parse(stdout).checks;
    return checks.find(({ check }) => check === 'model tiny-voice');
  };
  expect(await look()).toMatchObject({
    state: 'ok',
    message: expect.stringMatching(/^complete; needs 1\.0 MB of memory, [\d.]+ [MG]B are free; MIT$/),
  });
  rmSync(join(desk.models, 'tiny-voice', 'tokens.txt'));
  expect(await look()).toMatchObject({
    state: 'fail',
    message: 'damaged: tokens.txt',
    fix: 'vloc models install tiny-voice',
  });
});
