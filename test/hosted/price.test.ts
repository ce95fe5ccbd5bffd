/** --max-credits with a service whose jobs do not report what they cost. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { connectAgent } from '../commands/support/agent.ts';
import { ffmpeg, SAMPLE } from '../engines/workspace.ts';
import { errorOf } from '../support/run-main.ts';
import { type HostedScene, openMinimal } from './run-hosted.ts';

const CUE = (n: number) => `${n}\n00:00:0${n},000 --> 00:00:0${n},900\nhello ${n}\n`;
/** 1, 2 and 3 lines: 6 credits at 1 a line. */
const FILES = { 'a.srt': 1, 'b.srt': 2, 'c.srt': 3 };
const TRANSLATE = ['translate', ...Object.keys(FILES), '--from', 'en', '--to', 'es', '--out', 'out'];

async function open(): Promise<HostedScene> {
  const scene = await openMinimal();
  for (const [name, lines] of Object.entries(FILES)) {
    const text = Array.from({ length: lines }, (_, at) => CUE(at + 1)).join('\n');
    await writeFile(join(scene.folder, name), text);
  }
  return scene;
}

test('a limit that cannot be enforced stops after one job and says how to; with a price it holds, also over runs', async () => {
  const { hosted, run } = await open();
  const limited = (...more: string[]) => run([...TRANSLATE, '--jobs', '1', '-o', 'json', ...more]);
  const first = await limited('--max-credits', '3');
  expect(errorOf(first)).toMatchObject({
    code: 'PRICE_UNKNOWN',
    message: expect.stringContaining('the service does not report what a job costs'),
    advice: expect.stringContaining('the price of 1 line with --price subtitle_translation=CREDITS'),
  });
  expect([first.code, hosted.jobs.size]).toEqual([6, 1]);
  const priced = await limited('--max-credits', '3', '--price', 'subtitle_translation=1');
  expect(errorOf(priced).code).toBe('MAX_CREDITS_REACHED');
  expect([priced.code, hosted.jobs.size]).toEqual([6, 2]);
  const raised = await limited('--max-credits', '6', '--price', 'subtitle_translation=1');
  expect([raised.code, hosted.jobs.size]).toEqual([0, 3]);
});

test('a run with a single job warns that its limit cannot be enforced, unless it only downloads', async () => {
  const { run, folder } = await open();
  const words = ['translate', 'a.srt', '--from', 'en', '--to', 'es', '--out', 'out', '--max-credits', '3'];
  const limited = await run(words);
  const warning =
    'so --max-credits cannot be enforced; state the price with --price subtitle_translation=CREDITS';
  expect([limited.code, limited.stderr]).toEqual([0, expect.stringContaining(warning)]);
  await rm(join(folder, 'out', 'a.es.srt'));
  const downloaded = await run(words);
  expect([downloaded.code, downloaded.stderr]).toEqual([0, expect.not.stringContaining('enforced')]);
  const priced = await run([...words, '--fresh', '--clobber', '--price', 'subtitle_translation=1']);
  expect([priced.code, priced.stderr]).toEqual([0, expect.not.stringContaining('enforced')]);
});

test.each([
  [
    'VLOC_PRICE',
    async ({ env }: HostedScene) => ({ ...env, VLOC_PRICE: 'dubbing=9,subtitle_translation=1' }),
  ],
  [
    'the profile',
    async ({ folder, hosted }: HostedScene) => {
      const { key, secret } = hosted.account;
      const [base_url, price] = [hosted.baseUrl, 'subtitle_translation=1'];
      const profile = { name: 'p', base_url, key, secret: { type: 'file', value: secret }, price };
      await mkdir(join(folder, 'config'));
      const document = { version: 1, current: 'p', profiles: [profile] };
      await writeFile(join(folder, 'config', 'profiles.json'), JSON.stringify(document), { mode: 0o600 });
      return {};
    },
  ],
])('the price in %s holds from the first job on, and for the plan', async (_, give) => {
  const scene = await open();
  const { hosted, run, folder } = scene;
  const all = { VLOC_CONFIG_DIR: join(folder, 'config'), ...(await give(scene)) };
  const plan = await run([...TRANSLATE, '--dry-run', '-o', 'json'], { env: all });
  expect(JSON.parse(plan.stdout)).toMatchObject({ credits: 6 });
  const ended = await run([...TRANSLATE, '--max-credits', '5', '-o', 'json'], { env: all });
  expect([ended.code, errorOf(ended).code]).toEqual([6, 'MAX_CREDITS_REACHED']);
  expect(hosted.jobs.size).toBe(2);
  const report = JSON.parse((await run(['batch', 'report', 'out', '--format', 'json'])).stdout);
  // What was assumed is not reported as if the service had charged it.
  expect(report.credits).toEqual({ reserved: 0, charged: 0, unknown: 2 });
  expect(await readFile(join(folder, 'out', 'a.es.srt'), 'utf8')).not.toBe('');
});

test('a rerun of stages does not call its own subtitles files that are not videos', async () => {
  const { run } = await openMinimal();
  const words = 'localize . --include talk* --from en --to es --stop-after translate'.split(' ');
  expect((await run(words)).code).toBe(0);
  const { code, stderr } = await run(words);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('not supported videos')]);
  expect(stderr).toContain('Reading 1 video...');
});

test('a limit for all stages holds with prices of their kinds, and not without them', async () => {
  const { hosted, run } = await openMinimal();
  const staged = async (...more: string[]) => {
    const words = 'localize talk.mp4 --from en --to es --stop-after translate -o json --max-credits'.split(
      ' ',
    );
    const ended = await run([...words, ...more]);
    const error = ended.code === 0 ? null : errorOf(ended);
    return { ended: [ended.code, error?.code ?? null, hosted.jobs.size], advice: error?.advice };
  };
  // Nothing is paid before the prices of all stages are known, and one advice names them all.
  for (const more of [[], ['--dry-run']]) {
    const { ended, advice } = await staged('20', ...more);
    expect(ended).toEqual([6, 'PRICE_UNKNOWN', 0]);
    expect(advice).toContain('--price subtitle_recognition=CREDITS,subtitle_translation=CREDITS, or');
  }
  const partly = await staged('20', '--price', 'subtitle_recognition=1');
  expect(partly.ended).toEqual([6, 'PRICE_UNKNOWN', 0]);
  expect(partly.advice).toContain('--price subtitle_recognition=1,subtitle_translation=CREDITS, or');
  // The length of the video is unknown, so it counts as 15 minutes.
  const prices = ['--price', 'subtitle_recognition=1,subtitle_translation=1'];
  expect((await staged('15', ...prices)).ended).toEqual([6, 'MAX_CREDITS_REACHED', 1]);
  expect((await staged('20', ...prices)).ended).toEqual([0, null, 2]);
});

test.each(['dubbing', 'dubbing=-1', 'lines=1', 'dubbing=1,dubbing=2'])(
  'the price "%s" is refused before anything is sent',
  async (price) => {
    const { hosted, run, env } = await open();
    const flag = await run([...TRANSLATE, '--price', price]);
    expect([flag.code, flag.stderr]).toEqual([2, expect.stringContaining('expected KIND=CREDITS')]);
    const variable = await run(TRANSLATE, { env: { ...env, VLOC_PRICE: price } });
    expect([variable.code, variable.stderr]).toEqual([4, expect.stringContaining('env VLOC_PRICE')]);
    expect(hosted.requests).toEqual([]);
  },
);

const execute = promisify(execFile);
const PROJECT = join(import.meta.dirname, '../..');
const PROCESS = join(PROJECT, 'test/commands/support/vloc-process.ts');

test('the action reports unknown credits, not 0', async () => {
  const { folder, env } = await open();
  const inputs = { COMMAND: 'translate', INPUTS: 'a.srt', TO: 'es', OUT: 'out', OPTIONS: '--from=en' };
  const settings = Object.entries(inputs).map(([name, value]) => [`VLOC_ACTION_${name}`, value]);
  const output = join(folder, 'outputs');
  await execute(process.execPath, [join(PROJECT, 'action/run.ts'), process.execPath, PROCESS], {
    cwd: folder,
    env: { ...env, ...Object.fromEntries(settings), GITHUB_OUTPUT: output },
  });
  expect(await readFile(output, 'utf8')).toMatch(/^credits=unknown$/m);
});

/** An agent that is connected to a server of its own, which writes into the folder. */
async function connect({ folder, env }: HostedScene, price: string | null, ...flags: string[]) {
  const more = price === null ? {} : { VLOC_PRICE: price };
  const client = await connectAgent({ folder, env: { ...env, ...more } }, ['--write', '.', ...flags]);
  return async (name: string, input: string, options: Record<string, unknown> = {}) => {
    const given = { inputs: [input], from: 'en', to: ['es'], ...options };
    // The limit of the client is for people: a busy machine may take longer.
    const { structuredContent } = await client.callTool({ name, arguments: given }, { timeout: 600_000 });
    return structuredContent;
  };
}

test('the limit of a session holds for the stages of a localization', async () => {
  const scene = await openMinimal();
  ffmpeg('-i', SAMPLE, '-t', '1', '-c', 'copy', join(scene.folder, 'clip.mp4'));
  const kinds = ['subtitle_recognition', 'subtitle_translation', 'audio_separation', 'dubbing'];
  const prices = kinds.map((kind) => `${kind}=10`).join(',');
  for (const [max, code, jobs] of [
    ['9', 'MAX_CREDITS_REACHED', 0],
    ['10', 'MAX_CREDITS_REACHED', 1],
  ] as const) {
    const call = await connect(scene, prices, '--max-credits', max);
    const answer = await call('localize', 'clip.mp4', { stop_after: 'translate' });
    expect(answer, max).toMatchObject({ error: { code } });
    expect(scene.hosted.jobs.size, max).toBe(jobs);
  }
});

test('a session of an agent keeps its limit with a stated price, and does not know what was spent without one', async () => {
  const scene = await open();
  const { hosted } = scene;
  const translator = async (price: string | null, ...flags: string[]) => {
    const call = await connect(scene, price, ...flags);
    return (input: string, options = {}) => call('translate', input, { out: 'out', ...options });
  };
  const limited = await translator(null, '--max-credits', '3');
  expect(await limited('a.srt')).toMatchObject({
    error: { code: 'PRICE_UNKNOWN', advice: expect.stringContaining('VLOC_PRICE to subtitle_translation=') },
    session: { spent_credits: 0, left_credits: 3 },
  });
  expect(hosted.jobs.size).toBe(0);
  const priced = await translator('subtitle_translation=1', '--max-credits', '3');
  expect(await priced('a.srt')).toMatchObject({ session: { spent_credits: 1, left_credits: 2 } });
  expect(await priced('c.srt')).toMatchObject({
    error: { code: 'MAX_CREDITS_REACHED', advice: expect.stringContaining('has 2 credits left') },
  });
  expect(await priced('b.srt')).toMatchObject({ session: { spent_credits: 3, left_credits: 0 } });
  expect(hosted.jobs.size).toBe(2);
  const free = await translator(null);
  const unpriced = await free('c.srt', { max_credits: 99 });
  expect(unpriced).toMatchObject({ session: { spent_credits: null, left_credits: null } });
  // An agent has arguments and a user, no flags.
  const several = await translator(null);
  const stopped = await several('.', { out: 'other', max_credits: 9, jobs: 1 });
  expect(stopped).toMatchObject({ error: { code: 'PRICE_UNKNOWN' } });
  for (const answer of [unpriced, stopped]) {
    expect(JSON.stringify(answer)).toContain('VLOC_PRICE');
    expect(JSON.stringify(answer)).not.toContain('--price');
  }
});
