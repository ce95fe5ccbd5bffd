/**
 * Large files over loopback, compared in the same round with curl and with undici alone: time, CPU time and memory of the built
 * client. The limit is the time of undici alone, because reading a download with it and keeping nothing takes 2.3 × curl where
 * the server has one of two cores.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figure, NODE_MEMORY_MIB } from './figure.ts';
import { median, quantile } from './measure.ts';
import { runTimed, type TimedRun } from './timed-run.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const MIB = 1024 ** 2;
const ROUNDS = 3;
/** The limit of an upload is just under 1 GiB. */
const LARGE = 1023;
const HALF = 512;
const SHORT_LARGE = 128;
const SHORT_HALF = 64;
/** Space for a file of each size, and a download of the larger one. */
const NEEDED_BYTES = (2 * LARGE + HALF) * MIB;

/** The command only sends files that look like a video. Source: ISO 14496-12, `ftyp`. */
const VIDEO_HEAD = Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isomiso2', 'latin1');

interface Place {
  readonly folder: string;
  readonly api: number;
  readonly storage: number;
  readonly server: ChildProcess;
}

type Manner =
  | 'upload'
  | 'upload-hashed'
  | 'download'
  | 'download-hashed'
  | `${'curl' | 'undici'}-${'upload' | 'download'}`;

/** A file read in parts of 1 MiB, the next while one is sent. */
const UNDICI_UPLOAD = `
  const { open, stat } = await import('node:fs/promises');
  const { request } = await import(${JSON.stringify(import.meta.resolve('undici'))});
  const [file, url] = process.argv.slice(1);
  const handle = await open(file);
  const read = () => handle.read(Buffer.allocUnsafe(${MIB}), 0, ${MIB});
  async function* parts() {
    for (let next = read(); ; ) {
      const { bytesRead, buffer } = await next;
      if (bytesRead === 0) return handle.close();
      next = read();
      yield buffer.subarray(0, bytesRead);
    }
  }
  const headers = { 'content-length': (await stat(file)).size };
  const { body } = await request(url, { method: 'PUT', headers, body: parts() });
  await body.dump();
  process.exit();`;

/** A body written in batches of up to 4 MiB. */
const UNDICI_DOWNLOAD = `
  const { openSync, writev } = await import('node:fs');
  const { Writable } = await import('node:stream');
  const { pipeline } = await import('node:stream/promises');
  const { request } = await import(${JSON.stringify(import.meta.resolve('undici'))});
  const [url, path] = process.argv.slice(1);
  const file = openSync(path, 'w');
  const sink = new Writable({
    highWaterMark: ${4 * MIB},
    write: (chunk, encoding, done) => writev(file, [chunk], done),
    writev: (parts, done) => writev(file, parts.map(({ chunk }) => chunk), done),
  });
  await pipeline((await request(url)).body, sink);
  process.exit();`;

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
  const script = [process.execPath, '--input-type=module', '-e'];
  const download = (id: string) => [...vloc, 'jobs', 'download', `auto-localizations/${id}`, '--out', out];
  switch (manner) {
    case 'upload':
      return [...vloc, 'upload', file, '--output', 'id'];
    case 'upload-hashed':
      return [...script, SEND_HASHED, file];
    case 'download':
      return download(`loc_${mebibytes}_plain`);
    case 'download-hashed':
      return download(`loc_${mebibytes}_hashed`);
    case 'curl-upload':
      // Without this header curl would wait one second for permission to send.
      return ['curl', '--silent', '--show-error', '--upload-file', file, '--header', 'Expect:', object];
    case 'curl-download':
      return ['curl', '--silent', '--show-error', '--output', join(out, 'curl'), `${object}/${mebibytes}`];
    case 'undici-upload':
      return [...script, UNDICI_UPLOAD, file, object];
    case 'undici-download':
      return [...script, UNDICI_DOWNLOAD, `${object}/${mebibytes}`, join(out, 'undici')];
  }
}

/** @throws Error unless all bytes arrived */
async function run(manner: Manner, mebibytes: number, place: Place): Promise<TimedRun> {
  const out = join(place.folder, 'out');
  rmSync(out, { recursive: true, force: true });
  // Its records would say that the file was already sent.
  rmSync(join(place.folder, 'state'), { recursive: true, force: true });
  mkdirSync(out);
  const before = await storedBytes(place);
  const ran = runTimed(commandOf(manner, mebibytes, place), {
    VLOC_BASE_URL: `http://127.0.0.1:${place.api}/v1`,
    VLOC_KEY: 'vk_bench',
    VLOC_SECRET: 'only for this run',
    VLOC_STATE_DIR: join(place.folder, 'state'),
    VLOC_CONFIG_DIR: join(place.folder, 'config'),
  });
  const arrived = manner.includes('upload') ? (await storedBytes(place)) - before : largestFile(out);
  if (arrived !== mebibytes * MIB)
    throw new Error(`${manner}: ${arrived} of ${mebibytes * MIB} bytes arrived`);
  return ran;
}

async function storedBytes({ server }: Place): Promise<number> {
  server.send('how many?');
  return Number((await once(server, 'message'))[0]);
}

/** The video; a download leaves small records beside it. */
function largestFile(folder: string): number {
  return Math.max(0, ...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
}

const ROWS = [
  { name: 'upload', manner: 'upload', way: 'upload' },
  { name: 'upload with its SHA-256', manner: 'upload-hashed', way: 'upload' },
  { name: 'download', manner: 'download', way: 'download' },
  { name: 'download, its SHA-256 checked', manner: 'download-hashed', way: 'download' },
] as const;

const MANNERS = [
  ...ROWS.map(({ manner }) => manner),
  ...(['upload', 'download'] as const).flatMap((way) => [`curl-${way}`, `undici-${way}`] as const),
];

/** Time relative to undici alone, start-up included; the client also signs, checks and records. */
const MOST_RATIO = 1.3;
/** A larger difference between one size and twice that size is growth, not the effect of garbage collection. */
const GROWTH_MIB = 10;
/** 70 for the command, two batches, and the used chunks that Node collects at once: up to 64 MiB. */
const PEAK_MIB = 180;

/** Measures in memory if there is enough space, else on disk. */
export async function measureTransfer(isShort: boolean): Promise<readonly Figure[]> {
  const [half, large, rounds] = isShort ? [SHORT_HALF, SHORT_LARGE, 1] : [HALF, LARGE, ROUNDS];
  const memory = '/dev/shm';
  const parent = existsSync(memory) && freeBytes(memory) > 2 * NEEDED_BYTES ? memory : tmpdir();
  const folder = mkdtempSync(join(parent, 'vloc-bench-'));
  const server = fork(here('transfer-server.ts'));
  try {
    const [ports] = await once(server, 'message');
    const place: Place = { folder, server, ...ports };
    for (const size of [half, large]) {
      writeFileSync(join(folder, `${size}.mp4`), Buffer.concat([VIDEO_HEAD], size * MIB));
    }
    const small = await measureRound(half, place);
    const all: Round[] = [];
    for (let round = 0; round < rounds; round += 1) all.push(await measureRound(large, place));
    return figuresOf(all, small, half);
  } finally {
    server.disconnect();
    rmSync(folder, { recursive: true });
  }
}

async function measureRound(mebibytes: number, place: Place): Promise<Round> {
  const round = new Map<Manner, TimedRun>();
  for (const manner of MANNERS) round.set(manner, await run(manner, mebibytes, place));
  return round;
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

type Round = ReadonlyMap<Manner, TimedRun>;

function figuresOf(rounds: readonly Round[], small: Round, half: number): Figure[] {
  return ROWS.flatMap(({ name, manner, way }): Figure[] => {
    const of = (round: Round, which: Manner, part: keyof TimedRun) => round.get(which)?.[part] ?? Number.NaN;
    const ratio = (base: 'curl' | 'undici', part: 'seconds' | 'cpuSeconds') => {
      const values = rounds.map((round) => of(round, manner, part) / of(round, `${base}-${way}`, part));
      const spread = [quantile(values, 0.25), quantile(values, 0.75)] as const;
      // Node cannot copy bytes five times as fast as curl; on a busy machine one of the two may be slowed down.
      return { value: median(values), unit: '×', spread, plausible: [0.2, 1000] } as const;
    };
    const peaks = rounds.map((round) => of(round, manner, 'peakMiB'));
    const growth = median(peaks) - of(small, manner, 'peakMiB');
    return [
      {
        name: `${name}, time ÷ undici alone`,
        ...ratio('undici', 'seconds'),
        limit: { atMost: MOST_RATIO },
      },
      { name: `${name}, time ÷ curl`, ...ratio('curl', 'seconds') },
      { name: `${name}, CPU ÷ curl`, ...ratio('curl', 'cpuSeconds') },
      {
        name: `${name}, peak memory`,
        value: Math.max(...peaks),
        unit: 'MiB',
        limit: { atMost: PEAK_MIB },
        plausible: NODE_MEMORY_MIB,
      },
      {
        name: `${name}, memory beyond that for ${half} MiB`,
        value: growth,
        unit: 'MiB',
        limit: { atMost: GROWTH_MIB },
        plausible: [-1000, 16_384],
      },
    ];
  });
}
