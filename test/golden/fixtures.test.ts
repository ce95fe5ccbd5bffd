/** What version 0.1 has written is read by this one, by the commands that users have. */

import { chmod, cp, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listValues } from '../../src/commands/tool/completion-values.ts';
import { createMovableClock } from '../../src/service/control/clock.ts';
import { type Scene, startScene, until } from '../service/harness/scene.ts';
import { makeFolder } from '../support/make-folder.ts';
import { type Ended, foldersIn, runMain, startMain } from '../support/run-main.ts';
import { createTestIo, type TestIoOptions } from '../support/test-io.ts';

const WRITTEN = fileURLToPath(new URL('../fixtures/version-0.1', import.meta.url));
/** Ten minutes after the last record: results can still be fetched, and uploads be used. */
const NOW = Date.parse('2026-11-22T14:21:40Z');
const KEY = 'vk_j-h9_48DzuMNvkDA';

interface Studio {
  readonly folder: string;
  readonly env: Record<string, string>;
  run(line: string, options?: TestIoOptions): Promise<Ended>;
}

/** A copy, with the permissions that Git does not keep. */
async function openStudio(): Promise<Studio> {
  const folder = join(makeFolder(), 'studio');
  await cp(WRITTEN, folder, { recursive: true });
  for (const name of ['', ...(await readdir(folder, { recursive: true }))]) {
    const path = join(folder, name);
    await chmod(path, (await stat(path)).isDirectory() ? 0o700 : 0o600);
  }
  const env = { HOME: folder, PATH: join(folder, 'bin'), ...foldersIn(folder), VLOC_NO_KEYCHAIN: '1' };
  return {
    folder,
    env,
    async run(line, options = {}) {
      return runMain(line.split(' '), {
        cwd: join(folder, 'videos'),
        now: () => NOW,
        ...options,
        env: { ...env, ...options.env },
      });
    },
  };
}

/** Its service as it stood then, and the variables that lead a run there. */
async function startThen(
  studio: Studio,
): Promise<Scene & { readonly pace: NonNullable<TestIoOptions['pace']> }> {
  const clock = createMovableClock();
  clock.advance(NOW - Date.now());
  const scene = await startScene({ stateDir: join(studio.folder, 'service'), clock });
  const credentials = (await scene.service.keys()).find(({ key }) => key === KEY);
  Object.assign(studio.env, {
    VLOC_BASE_URL: scene.service.url,
    VLOC_KEY: credentials?.key ?? '',
    VLOC_SECRET: credentials?.secret ?? '',
  });
  return { ...scene, pace: { runtime: { now: clock.now } } };
}

/** Label, state and job of each item, then the counts that are not 0. */
function summarize({ stdout }: Ended): { items: string[]; counts: Record<string, number>; charged: number } {
  const { items, counts, credits } = JSON.parse(stdout);
  return {
    items: items.map(
      (item: { label: string; state: string; job_id: string; error: { code: string } | null }) =>
        [item.label, item.state, item.job_id, item.error?.code ?? ''].join(' ').trim(),
    ),
    counts: Object.fromEntries(Object.entries<number>(counts).filter(([, count]) => count > 0)),
    charged: credits.charged,
  };
}

describe('the journal of version 0.1', () => {
  it('of two languages, a failed item and one that still runs', async () => {
    const status = await (await openStudio()).run('batch status languages -o json');
    expect(status.code).toBe(8);
    expect(summarize(status)).toEqual({
      items: [
        'talk.srt → es done tra_01m81shrphvza52ad3vz47mhz3',
        'talk.srt → fr done tra_01m81shrpkgdxq6whmyp6t7nh0',
        'bad.srt → es failed tra_01m81shtft9hstyhxj70n72vsp SUBTITLE_INVALID',
        'late.srt → es running tra_01m81sjaqqf339bwapmm81w2cy',
      ],
      counts: { done: 2, failed: 1, running: 1 },
      charged: 2,
    });
    expect(JSON.parse(status.stdout).commands.map(({ argv }: { argv: string[] }) => argv.join(' '))).toEqual([
      'translate talk.srt --to es,fr --out languages',
      'translate bad.srt --to es --out languages',
      'translate late.srt --to es --out languages --detach',
    ]);
  });

  it('of an item in parts, of a localization in stages and of a watched folder', async () => {
    const studio = await openStudio();
    for (const [folder, items, charged] of [
      ['split', ['book.srt → es done tra_01m81shw07d393hm23ds3x1pfv'], 9],
      [
        'stages',
        ['talk.mp4 done rec_01m81sj439a17mypqsa58mmvy9', 'talk.mp4 → es done tra_01m81sj5e9bjmw5mcbevamq67m'],
        2,
      ],
      ['watched', ['inbox/talk.mp4 done rec_01m81sj9dajmesgjav0f1nm82s'], 1],
    ] as const) {
      const status = await studio.run(`batch status ${folder} -o json`);
      expect(status.code).toBe(0);
      expect(summarize(status)).toEqual({ items, counts: { done: items.length }, charged });
    }
  });

  it('continues without a second payment: finished items are kept, running ones waited for', async () => {
    const studio = await openStudio();
    const { service, pace } = await startThen(studio);
    for (const line of [
      'translate talk.srt --to es,fr --out languages',
      'translate late.srt --to es --out languages',
      'translate book.srt --to es --out split --split',
    ]) {
      const { code, stderr } = await studio.run(`${line} --base-url ${service.url}`, { pace });
      expect(code, `${line}\n${stderr}`).toBe(0);
    }
    const { stdout } = await studio.run(`jobs list --all -o json --base-url ${service.url}`, { pace });
    expect(JSON.parse(stdout).data).toHaveLength(10);
    const status = await studio.run('batch status languages -o json');
    expect(summarize(status).counts).toEqual({ done: 3, failed: 1 });
  });
});

describe('the records of version 0.1', () => {
  it('make its jobs and uploads available for completion', async () => {
    const { folder, env } = await openStudio();
    const { io } = createTestIo({ cwd: folder, env, now: () => NOW });
    const jobs = await listValues('jobs', io);
    expect(jobs).toHaveLength(10);
    expect(jobs[0]).toEqual({
      value: 'tra_01m81sjaqqf339bwapmm81w2cy',
      explains: 'subtitle_translation, queued, late.srt',
    });
    expect(await listValues('uploads', io)).toEqual([
      { value: 'upl_01m81shz0z807j3q6vhan23wa4', explains: 'source_video, 6036 bytes' },
    ]);
  });
});

describe('the profiles of version 0.1', () => {
  it('are listed, with the one in use', async () => {
    const { code, stdout } = await (await openStudio()).run('profile list -o json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).data).toMatchObject([
      { name: 'local', in_use: false },
      { name: 'studio', in_use: false, base_url: 'http://127.0.0.1:4517/v1', key: KEY },
      { name: 'spare', in_use: true, base_url: 'https://api.example.com/v1' },
    ]);
  });

  it('are chosen by the project file', async () => {
    const { code, stdout } = await (await openStudio()).run('profile show');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^profile +studio +project file .*vloc\.config\.json$/m);
    expect(stdout).toMatch(/^base_url +http:\/\/127\.0\.0\.1:4517\/v1 +profile studio$/m);
    expect(stdout).toMatch(/^secret +\*{6} +profile studio$/m);
  });
});

describe('the store of version 0.1', () => {
  it('is served by vloc serve: its key still works, and the balance is unchanged', async () => {
    const studio = await openStudio();
    const state = join(studio.folder, 'service');
    const where = { cwd: studio.folder, env: studio.env };
    const serving = startMain(['serve', '--state-dir', state, '-o', 'plain'], where);
    const shown = await until(serving.stdout, (text) => text.endsWith('/v1\n'));
    const { profiles } = JSON.parse(await readProfiles(studio));
    const env = {
      VLOC_BASE_URL: shown.trim(),
      VLOC_KEY: KEY,
      VLOC_SECRET: profiles[0].secret.value,
    };
    const { code, stdout, stderr } = await studio.run('credits -o json', { env, now: Date.now });
    expect(code, stderr).toBe(0);
    const { balance_credits, available_credits, reserved_credits } = JSON.parse(stdout);
    expect(balance_credits).toBe(99_986);
    expect(available_credits + reserved_credits).toBe(99_986);
    serving.send('SIGINT');
    expect((await serving.ended).code).toBe(0);
  });

  it('has both keys with their rules', async () => {
    const studio = await openStudio();
    const { code, stdout } = await studio.run(
      `serve keys list -o json --state-dir ${join(studio.folder, 'service')}`,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { key: KEY, revoked_at: null },
      { permissions: ['dubbing'], monthly_quota_credits: 500 },
    ]);
  });

  it('has all jobs and their costs', async () => {
    const studio = await openStudio();
    const { service, pace } = await startThen(studio);
    const ask = (line: string) => studio.run(`${line} --base-url ${service.url}`, { pace });
    const jobs = await ask('jobs list --all --fields id,status -o plain');
    expect(jobs.stdout.split('\n')).toContain('tra_01m81shtft9hstyhxj70n72vsp\tfailed');
    expect(jobs.stdout.match(/\tsucceeded$/gm)).toHaveLength(8);
    const history = await ask('credits history --all --fields amount,job_id -o plain');
    const charged = [...history.stdout.matchAll(/^(-\d+)\t/gm)].map(([, amount]) => Number(amount));
    // The job that still ran may have been finished meanwhile, for one more.
    expect([-14, -15]).toContain(charged.reduce((sum, amount) => sum + amount, 0));
    const { code, stdout } = await ask('jobs download tra_01m81shrphvza52ad3vz47mhz3 --out -');
    expect([code, stdout]).toEqual([0, '1\n00:00:00,000 --> 00:00:02,000\nHELLO\n\n']);
  });
});

async function readProfiles({ folder }: Studio): Promise<string> {
  return readFile(join(folder, 'config', 'profiles.json'), 'utf8');
}
