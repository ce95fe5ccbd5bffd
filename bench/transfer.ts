/** Large files over loopback, compared with curl in the same round: time, CPU time and memory of the built client. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { median, quantile } from './measure.ts';
import { runTimed, type TimedRun } from './timed-run.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const MIB = 1024 ** 2;
const ROUNDS = 7;
/** The limit of an upload is just under 1 GiB. */
const LARGE = 1023;
const HALF = 512;
/** Space for a file of each size, and a download of the larger one. */
const NEEDED_BYTES = (2 * LARGE + HALF) * MIB;

/** The command only sends files that look like a video. Source: ISO 14496-12, `ftyp`. */
const VIDEO_HEAD = Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isomiso2', 'latin1');

interface Place {
  readonly folder: string;
  readonly api: number;
  readonly storage: number;
}

type Manner = 'upload' | 'upload-hashed' | 'download' | 'download-hashed' | 'curl-upload' | 'curl-download';

/** Also computes the hash of the sent bytes, which programs and records use. */
const SEND_HASHED = `
  const { createClient } = await import(${JSON.stringify(new URL('../dist/client.js', import.meta.url).href)});
  const client = createClient({ baseUrl: process.env.VLOC_BASE_URL, key: 'vk_bench', secret: 'only for this run' });
  const sent = await client.uploads.sendFile(process.argv[1], { purpose: 'source_video', contentType: 'video/mp4' });
  if (sent.sha256?.length !== 64) throw new Error('no hash');
  await client.close();`;

function commandOf(manner: Manner, mebibytes: number, { folder, storage }: Place): readonly string[] {
  const file = join(folder, `${mebibytes}.mp4`);
  const out = join(folder, 'out');
  const object = `http://127.0.0.1:${storage}/object`;
  const vloc = [process.execPath, here('../bin/vloc.js')];
  const download = (id: string) => [...vloc, 'jobs', 'download', `auto-localizations/${id}`, '--out', out];
  switch (manner) {
    case 'upload':
      return [...vloc, 'upload', file, '--output', 'id'];
    case 'upload-hashed':
      return [process.execPath, '--input-type=module', '-e', SEND_HASHED, file];
    case 'download':
      return download(`loc_${mebibytes}_plain`);
    case 'download-hashed':
      return download(`loc_${mebibytes}_hashed`);
    case 'curl-upload':
      // Without this header curl would wait one second for permission to send.
      return ['curl', '--silent', '--show-error', '--upload-file', file, '--header', 'Expect:', object];
    case 'curl-download':
      return ['curl', '--silent', '--show-error', '--output', join(out, 'curl'), `${object}/${mebibytes}`];
  }
}

function run(manner: Manner, mebibytes: number, place: Place): TimedRun {
  const out = join(place.folder, 'out');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  return runTimed(commandOf(manner, mebibytes, place), {
    VLOC_BASE_URL: `http://127.0.0.1:${place.api}/v1`,
    VLOC_KEY: 'vk_bench',
    VLOC_SECRET: 'only for this run',
    VLOC_STATE_DIR: join(place.folder, 'state'),
    VLOC_CONFIG_DIR: join(place.folder, 'config'),
  });
}

const ROWS = [
  { name: 'upload of 1 GiB', manner: 'upload', base: 'curl-upload', atMost: 1.6 },
  { name: 'the same with its SHA-256', manner: 'upload-hashed', base: 'curl-upload', atMost: 2.4 },
  { name: 'download of 1 GiB', manner: 'download', base: 'curl-download', atMost: 1.2 },
  {
    name: 'the same with its SHA-256 checked',
    manner: 'download-hashed',
    base: 'curl-download',
    atMost: 1.9,
  },
] as const;

const MANNERS: readonly Manner[] = [...new Set(ROWS.flatMap(({ base, manner }) => [base, manner]))];

/** A larger difference between one size and twice that size is growth, not the effect of garbage collection. */
const GROWTH_MIB = 10;
const PEAK_MIB = 140;

/** Measures in memory if there is enough space, else on disk. */
export async function measureTransfer(): Promise<readonly Figure[]> {
  const memory = '/dev/shm';
  const parent = existsSync(memory) && freeBytes(memory) > 2 * NEEDED_BYTES ? memory : tmpdir();
  const folder = mkdtempSync(join(parent, 'vloc-bench-'));
  const server = fork(here('transfer-server.ts'));
  try {
    const [ports] = await once(server, 'message');
    const place: Place = { folder, ...ports };
    for (const size of [HALF, LARGE]) {
      writeFileSync(join(folder, `${size}.mp4`), Buffer.concat([VIDEO_HEAD], size * MIB));
    }
    const halves = MANNERS.map((manner) => [manner, run(manner, HALF, place)] as const);
    const rounds = Array.from(
      { length: ROUNDS },
      () => new Map(MANNERS.map((manner) => [manner, run(manner, LARGE, place)])),
    );
    return figuresOf(rounds, new Map(halves));
  } finally {
    server.disconnect();
    rmSync(folder, { recursive: true });
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

type Round = ReadonlyMap<Manner, TimedRun>;

function figuresOf(rounds: readonly Round[], half: Round): Figure[] {
  return ROWS.flatMap(({ name, manner, base, atMost }): Figure[] => {
    const of = (round: Round, which: Manner, part: keyof TimedRun) => round.get(which)?.[part] ?? Number.NaN;
    const ratios = (part: keyof TimedRun) =>
      rounds.map((round) => of(round, manner, part) / of(round, base, part));
    const spread = (values: readonly number[]) => [quantile(values, 0.25), quantile(values, 0.75)] as const;
    const wall = ratios('seconds');
    const cpu = ratios('cpuSeconds');
    const peaks = rounds.map((round) => of(round, manner, 'peakMiB'));
    const growth = median(peaks) - of(half, manner, 'peakMiB');
    return [
      {
        name: `${name}, time ÷ curl`,
        value: median(wall),
        unit: '×',
        limit: { atMost },
        spread: spread(wall),
      },
      { name: `${name}, CPU ÷ curl`, value: median(cpu), unit: '×', spread: spread(cpu) },
      { name: `${name}, peak memory`, value: Math.max(...peaks), unit: 'MiB', limit: { atMost: PEAK_MIB } },
      {
        name: `${name}, memory beyond that for 512 MiB`,
        value: growth,
        unit: 'MiB',
        limit: { atMost: GROWTH_MIB },
      },
    ];
  });
}
