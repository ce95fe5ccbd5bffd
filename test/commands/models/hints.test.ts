/** Other commands that speak of models. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type ModelsDesk, openModelsDesk } from './desk.ts';

let desk: ModelsDesk;
beforeEach(async () => {
  desk = await openModelsDesk();
});

it('a job in a language without an engine names the model, its size and the command', async () => {
  const [, voice] = desk.catalog.models;
  const catalog = { version: 1, models: [{ ...voice, languages: ['yo'] }] };
  writeFileSync(join(desk.folder, 'talk.srt'), '1\n00:00:00,000 --> 00:00:02,000\nand mister had\n');
  const dub = (to: string) => desk.call(['dub', 'talk.srt', '--to', to, '--profile', 'local'], { catalog });
  const { code, stderr } = await dub('yo');
  expect(code).toBe(2);
  expect(stderr).toMatch(/Or download tiny-voice \(2\d\d kB\): vloc models install tiny-voice/);
  // No model of this catalogue speaks it.
  expect((await dub('wo')).stderr).not.toContain('models install');
});

it('the installation of the built-in engines ends with the models that can be used before them', async () => {
  const [ears] = desk.catalog.models;
  const catalog = { version: 1, models: [{ ...ears, languages: ['en'] }] };
  const { stderr } = await desk.call(['engines', 'install'], { catalog });
  expect(stderr).toMatch(
    /To use open models before them, download tiny-ears \(1\.\d kB\): vloc models install tiny-ears\n/,
  );
});
