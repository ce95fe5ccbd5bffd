import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runMain } from '../../support/run-main.ts';
import { QUICK, startVloc, type VlocScene } from '../support/run-vloc.ts';

const BROKEN = ['\n', '\r\n'];
const COPIED: readonly ((text: string) => string)[] = [(text) => `"${text}"`, (text) => `${text}\t`];

describe('credentials of the environment', () => {
  it('work with a line break at their end, which is named', async () => {
    const { run, env } = await startVloc();
    for (const end of BROKEN) {
      const { code, stderr } = await run(['credits'], { env: { VLOC_SECRET: `${env.VLOC_SECRET}${end}` } });
      expect([end, code, stderr]).toEqual([
        end,
        0,
        '! The API secret ended in a line break, which was removed: `printf %s` writes none.\n',
      ]);
      const key = await run(['credits'], { env: { VLOC_KEY: `${env.VLOC_KEY}${end}` } });
      expect([end, key.code, key.stderr]).toEqual([
        end,
        0,
        expect.stringMatching(/^! The API key ended in a line break/),
      ]);
    }
  });

  it('are refused with a line break inside, before anything is sent', async () => {
    const { run } = await startVloc();
    const { code, stderr } = await run(['credits'], { env: { VLOC_SECRET: 'canary\n\n' } });
    expect([code, stderr]).toEqual([4, expect.stringContaining('the API secret contains a line break')]);
    expect(stderr).not.toContain('canary');
  });

  it('that were copied with a blank or quotes are named in the refusal, and by doctor', async () => {
    const { run, env } = await startVloc();
    const said = 'the secret begins or ends with a blank or a quotation mark';
    for (const copy of COPIED) {
      const copied = { env: { VLOC_SECRET: copy(env.VLOC_SECRET ?? '') } };
      const { code, stderr } = await run(['credits', '-o', 'json'], copied);
      expect([copy('x'), code, JSON.parse(stderr).error.message]).toEqual([
        copy('x'),
        4,
        expect.stringContaining(said),
      ]);
      expect(stderr).not.toContain('header prefix');
    }
    const copied = { env: { VLOC_SECRET: `"${env.VLOC_SECRET}"`, PATH: '' } };
    const { checks } = JSON.parse((await run(['doctor', '-o', 'json'], copied)).stdout);
    expect(checks).toContainEqual(
      expect.objectContaining({
        check: 'credentials',
        state: 'fail',
        message: expect.stringContaining(said),
        fix: expect.stringContaining('Set the secret without it'),
      }),
    );
    const key = await run(['credits'], { env: { VLOC_KEY: `"${env.VLOC_KEY}"` } });
    expect(key.stderr).toContain('the key begins or ends with a blank or a quotation mark');
  });
});

describe('a project file that chooses the host', () => {
  const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';

  /** Runs a command in a clone with that project file, with the key and the secret in the environment alone. */
  async function runIn({ folder, env }: VlocScene, settings: object, words: readonly string[], more = {}) {
    const { VLOC_BASE_URL: _chosen, ...own } = env;
    const path = join(folder, 'vloc.config.json');
    await writeFile(path, JSON.stringify(settings));
    const { code, stderr } = await runMain(words, { cwd: folder, pace: QUICK, env: { ...own, ...more } });
    return { code, warnings: stderr.split('\n').filter((line) => line.startsWith('! ')), path };
  }

  it('for the credentials of the environment is named with the host, once for each command', async () => {
    const vloc = await startVloc();
    const { host } = new URL(vloc.service.url);
    const profile = {
      name: 'prod',
      base_url: vloc.service.url,
      key: 'k',
      secret: { type: 'file', value: 's' },
    };
    await mkdir(join(vloc.folder, 'config'), { mode: 0o700 });
    const document = JSON.stringify({ version: 1, profiles: [profile] });
    await writeFile(join(vloc.folder, 'config', 'profiles.json'), document, { mode: 0o600 });
    await writeFile(join(vloc.folder, 'talk.srt'), SRT);
    await writeFile(join(vloc.folder, 'walk.srt'), SRT);
    const inputs = ['translate', 'talk.srt', 'walk.srt', '--from', 'en', '--to', 'es,fr'];
    const here = { base_url: vloc.service.url };
    for (const [settings, words] of [
      [here, ['api', '/credits']],
      [here, [...inputs, '--dry-run']],
      [here, inputs],
      [{ profile: 'prod' }, ['credits']],
    ] as const) {
      const { code, warnings, path } = await runIn(vloc, settings, words);
      expect([words, code, warnings]).toEqual([
        words,
        0,
        [
          `! ${path} chooses ${host}, which gets requests signed with VLOC_KEY and VLOC_SECRET. Set VLOC_BASE_URL to choose it yourself.`,
        ],
      ]);
    }
  });

  it('is not named where the user chose the host, or has a key for it', async () => {
    const vloc = await startVloc();
    const here = { base_url: vloc.service.url };
    const { VLOC_KEY: key, VLOC_SECRET: value } = vloc.env;
    const { code, warnings } = await runIn(vloc, here, ['credits'], { VLOC_BASE_URL: vloc.service.url });
    expect([code, warnings]).toEqual([0, []]);
    const flag = await runIn(vloc, here, ['credits', '--base-url', vloc.service.url]);
    expect([flag.code, flag.warnings]).toEqual([0, []]);
    const profile = { name: 'prod', base_url: vloc.service.url, key, secret: { type: 'file', value } };
    await mkdir(join(vloc.folder, 'config'), { mode: 0o700 });
    const document = JSON.stringify({ version: 1, profiles: [profile] });
    await writeFile(join(vloc.folder, 'config', 'profiles.json'), document, { mode: 0o600 });
    const own = await runIn(vloc, { profile: 'prod' }, ['credits'], { VLOC_KEY: '', VLOC_SECRET: '' });
    expect([own.code, own.warnings]).toEqual([0, []]);
  });
});
