import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listValues, type ValueSource } from '../../../src/commands/tool/completion-values.ts';
import { type Desk, openDesk } from '../../docs/completions/desk.ts';

const DAYS_MS = 24 * 3_600_000;
let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.remove());

/** A line for each value, with what explains it. */
async function ask(source: ValueSource, env: Record<string, string> = {}, now: () => number = Date.now) {
  const around = { env: { ...desk.env, ...env }, platform: 'linux', cwd: desk.folder, now } as const;
  return (await listValues(source, around)).map(({ value, explains }) => `${value}\t${explains}\n`).join('');
}

describe('values for a shell', () => {
  it('are the profiles with their addresses, the embedded service first', async () => {
    expect(await ask('profiles')).toBe(
      'local\tthe embedded service\nstaging\thttps://staging.example.com/v1\n',
    );
  });

  it('are the jobs of this machine, the newest first, without ids that a shell would interpret', async () => {
    expect(await ask('jobs')).toBe(
      'dub_newer\tdubbing, queued, talk.mp4\nloc_older\tauto_localization, queued, talk.mp4\n',
    );
  });

  it('are the steps with configured engines and the names of these, for `engines remove`', async () => {
    const file = join(desk.folder, 'mine.json');
    const server = { type: 'openai', url: 'http://127.0.0.1:1/v1', model: 'large-v3' };
    const unsafe = { ...server, model: 'a/b $(x)' };
    writeFileSync(file, JSON.stringify({ recognize: [server, unsafe, 'pocketsphinx'] }), { mode: 0o600 });
    expect(await ask('engines', { VLOC_ENGINES: 'mine.json' })).toBe(
      'recognize\ta step\nlarge-v3\topenai large-v3, to recognize\npocketsphinx\tpocketsphinx, to recognize\n',
    );
    writeFileSync(file, '{');
    expect(await ask('engines', { VLOC_ENGINES: 'mine.json' })).toBe('');
    expect(await ask('engines', { VLOC_ENGINES: '' })).toBe('');
  });

  it('are not jobs or uploads that the service has deleted', async () => {
    const later = () => Date.now() + 8 * DAYS_MS;
    expect(await ask('jobs', {}, later)).toBe('');
    expect(await ask('uploads', {}, later)).toBe('');
    expect(await ask('uploads')).toContain('upl_here\t');
  });

  it('are still the embedded service if the profiles file is damaged', async () => {
    writeFileSync(join(desk.folder, 'profiles.json'), '{"version":');
    expect(await ask('profiles', { VLOC_CONFIG_DIR: desk.folder })).toBe('local\tthe embedded service\n');
  });

  it('are empty without such a record or engine', async () => {
    expect(await ask('jobs', { VLOC_STATE_DIR: join(desk.folder, 'none') })).toBe('');
    expect(await ask('translation-targets', { PATH: desk.folder })).toBe('');
  });

  it('are the languages that the engines name, each once', async () => {
    const targets = (await ask('translation-targets')).trim().split('\n');
    expect(targets).toContain('es\tSpanish');
    expect(new Set(targets).size).toBe(targets.length);
    expect(await ask('recognized')).toBe('auto\tfound out\nen\tEnglish\n');
  });
});
