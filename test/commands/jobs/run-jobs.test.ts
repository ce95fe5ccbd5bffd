import { lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../service/harness/scene.ts';
import { startSecure } from '../../service/outgoing/outside.ts';
import { startMain } from '../../support/run-main.ts';
import { linesOf, startVloc, untilAccepted, type VlocScene } from '../support/run-vloc.ts';

const SRT = (text: string) => `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`;
const TO_SPANISH = ['--from', 'en', '--to', 'es'];

interface Scene extends VlocScene {
  readonly names: readonly string[];
  /** How many requests the service has answered. */
  readonly requests: () => number;
}

async function withSubtitles(count: number): Promise<Scene> {
  let requests = 0;
  const vloc = await startVloc({
    onRequest: () => {
      requests += 1;
    },
  });
  const names = Array.from({ length: count }, (_, index) => `talk-${index}.srt`);
  for (const name of names) await writeFile(join(vloc.folder, name), SRT(name));
  return { ...vloc, names, requests: () => requests };
}

const countJobs = async ({ caller }: VlocScene): Promise<number> =>
  (await caller.get('/v1/subtitle-translations?limit=50')).json.data.length;

describe('a job command', () => {
  it('does nothing and pays nothing if it is run again', async () => {
    const vloc = await withSubtitles(3);
    const words = [
      'translate',
      ...vloc.names,
      ...TO_SPANISH,
      '--out',
      join(vloc.folder, 'out'),
      '-o',
      'json',
    ];
    const first = await vloc.run(words);
    expect(first.code, first.stderr).toBe(0);
    const second = await vloc.run(words);
    expect(second.code, second.stderr).toBe(0);
    const ids = ({ stdout }: { stdout: string }) =>
      JSON.parse(stdout).data.map(({ id }: { id: string }) => id);
    expect(ids(second)).toEqual(ids(first));
    expect(JSON.parse(second.stdout).data[0]).toMatchObject({
      input: 'talk-0.srt',
      kind: 'subtitle_translation',
      status: 'succeeded',
      target_language: 'es',
      files: [{ path: join(vloc.folder, 'out', 'talk-0.es.srt'), skipped: true }],
      error: null,
    });
    expect(await countJobs(vloc)).toBe(3);
  });

  it('writes each job and file for programs as they occur, and a summary at the end', async () => {
    const vloc = await withSubtitles(1);
    const { code, stdout } = await vloc.run(['translate', ...vloc.names, ...TO_SPANISH, '-o', 'ndjson']);
    expect(code).toBe(0);
    const events = linesOf(stdout);
    const of = (type: string) => events.filter((event) => event.type === type);
    expect(of('created')).toMatchObject([{ input: 'talk-0.srt', target_language: 'es' }]);
    expect(of('job').at(-1)).toMatchObject({ status: 'succeeded', progress: 100 });
    expect(of('file')).toMatchObject([{ asset: 'subtitle', path: join(vloc.folder, 'talk-0.es.srt') }]);
    expect(events.at(-1)).toMatchObject({ type: 'summary', jobs: 1, failed: 0, exit_code: 0 });
  });

  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('on %s writes the exit code of its end for programs, %i', async (signal, exitCode) => {
    const vloc = await withSubtitles(1);
    vloc.engines.hold();
    const words = ['translate', ...vloc.names, ...TO_SPANISH, '-o', 'ndjson'];
    const running = startMain(words, { cwd: vloc.folder, env: vloc.env });
    await untilAccepted(vloc.folder, 1);
    running.send(signal);
    const { code, stdout } = await running.ended;
    vloc.engines.letGo();
    expect(code).toBe(exitCode);
    const last = stdout.trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ type: 'summary', left: 1, exit_code: code });
  });

  it('prints the ids with --detach, and keeps the jobs in the record of this machine', async () => {
    const vloc = await withSubtitles(2);
    vloc.engines.hold();
    const { code, stdout, stderr } = await vloc.run([
      ...['translate', ...vloc.names, ...TO_SPANISH],
      ...['--detach', '-o', 'id'],
    ]);
    expect(code, stderr).toBe(0);
    const ids = stdout.trim().split('\n');
    expect(ids).toHaveLength(2);
    expect(stderr).toContain('Continue with:');
    const before = vloc.requests();
    // The record says of which kind they are: one request each.
    await vloc.run(['jobs', 'cancel', ...ids]);
    expect(vloc.requests() - before).toBe(4);
    expect((await readdir(join(vloc.folder, 'state'))).sort()).toContain('records.db');
  });
});

describe('a name of a result', () => {
  /** What has the name that the result would get. */
  const TAKEN: Record<string, (path: string) => Promise<unknown>> = {
    'a folder': (path) => mkdir(path),
    'a link to a file that does not exist': (path) => symlink('nothing', path),
  };

  it.each([
    ['a folder', ['--clobber'], 2],
    ['a folder', ['--skip-existing'], 2],
    ['a link to a file that does not exist', [], 2],
    ['a link to a file that does not exist', ['--clobber'], 0],
  ])('that is %s is reported with %j before anything is paid', async (what, flags, code) => {
    const vloc = await withSubtitles(1);
    const out = join(vloc.folder, 'out');
    await mkdir(out);
    await TAKEN[what]?.(join(out, 'talk-0.es.srt'));
    const ended = await vloc.run(['translate', 'talk-0.srt', ...TO_SPANISH, '--out', 'out', ...flags]);
    expect(ended.code, ended.stderr).toBe(code);
    expect(await countJobs(vloc)).toBe(code === 0 ? 1 : 0);
    if (code === 0) expect((await lstat(join(out, 'talk-0.es.srt'))).isFile()).toBe(true);
    else expect(ended.stderr).toContain(`talk-0.es.srt: is ${what}`);
  });
});

describe('a name of an input', () => {
  it('with a line break is never printed as two lines', async () => {
    const vloc = await withSubtitles(0);
    const name = 'zig\nzag.srt';
    await writeFile(join(vloc.folder, name), SRT('hello'));
    const words = ['translate', name, ...TO_SPANISH, '--out', 'out'];
    const output: string[] = [];
    const run = async (...more: string[]) => {
      const { stdout, stderr } = await vloc.run([...words, ...more]);
      output.push(stdout, stderr);
    };
    await run('--dry-run');
    await run();
    await run('-o', 'json');
    await run('--fresh', '--skip-existing');
    await run('--out', name);
    await run(name);
    await rm(join(vloc.folder, name));
    await run();
    await writeFile(join(vloc.folder, name), SRT('other'));
    vloc.engines.hold();
    const before = vloc.engines.begun.length;
    const running = startMain([...words, '--out', 'other'], { cwd: vloc.folder, env: vloc.env });
    await until(() => vloc.engines.begun.length > before);
    running.send('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    vloc.engines.letGo();
    output.push(stderr);
    expect(stderr).toContain("vloc translate $'zig\\nzag.srt'");
    expect(output.join('')).toContain('zig\\u000azag');
    expect(output.join('')).not.toContain('zig\n');
  });

  it.runIf(process.platform === 'linux')('that is not UTF-8 is reported as that', async () => {
    const vloc = await withSubtitles(0);
    const bytes = (text: string) => Buffer.from(join(vloc.folder, text), 'latin1');
    await mkdir(join(vloc.folder, 'in'));
    await mkdir(bytes('in/week\xff'));
    await writeFile(bytes('in/talk\xff.srt'), SRT('hello'));
    const named = await vloc.run(['translate', 'in/talk\ufffd.srt', ...TO_SPANISH]);
    expect(named.code).toBe(2);
    expect(named.stderr).toContain('in/talk\ufffd.srt: its name is not valid UTF-8; rename it\n');
    const found = await vloc.run(['translate', 'in', ...TO_SPANISH]);
    expect(found.stderr).toContain('in/talk\ufffd.srt: its name is not valid UTF-8; rename it\n');
    expect(found.stderr).toContain(
      'in/week\ufffd: its name is not valid UTF-8; rename it, or --exclude it\n',
    );
  });
});

describe('a list of addresses', () => {
  /** Subtitles at four addresses, two of which are bad, and what the run of them comes to with a quota. */
  async function translateAddresses(answerBad: (response: ServerResponse) => void, quota: number) {
    const outside = await startSecure(({ url }, response) => {
      if (url?.includes('bad')) answerBad(response);
      else response.end(SRT(url ?? ''));
    });
    const vloc = await startVloc({ allowLoopback: true });
    await vloc.service.changeKey(vloc.credentials.key, { monthlyLimitCredits: quota });
    const urls = ['bad-1', 'good-1', 'bad-2', 'good-2'].map((name) => `${outside.origin}/${name}.srt`);
    const words = ['translate', ...urls, ...TO_SPANISH, '--jobs', '1', '-o', 'json'];
    const { code, stdout, stderr } = await vloc.run(words);
    const states = JSON.parse(stdout).data.map(({ status }: { status: string }) => status);
    return { code, states, stderr };
  }

  it('is translated except for those that lead to nothing', async () => {
    const { code, states, stderr } = await translateAddresses((response) => response.writeHead(404).end(), 2);
    expect([code, states], stderr).toEqual([3, ['failed', 'succeeded', 'failed', 'succeeded']]);
    expect(stderr).toContain('INPUT_NOT_USABLE');
  });

  it('is translated except for those that the quota cannot reserve, because their servers are slow', async () => {
    const { code, states, stderr } = await translateAddresses((response) => response.writeHead(503).end(), 2);
    expect([code, states], stderr).toEqual([6, ['failed', 'succeeded', 'failed', 'succeeded']]);
  });

  it('ends when the quota does not suffice for three of them in a row', async () => {
    const { code, states, stderr } = await translateAddresses((response) => response.writeHead(503).end(), 0);
    expect([code, states], stderr).toEqual([6, ['failed', 'failed', 'failed', null]]);
  });
});
