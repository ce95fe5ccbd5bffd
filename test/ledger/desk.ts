/** Where a scene of the ledger is played: a minimal hosted service, a folder, and the text that is recorded. */
import { hash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { expect } from 'vitest';
import { LIMITS } from '../commands/jobs/limits.ts';
import { createKiller, expectKilled, type Moment, spawnVloc } from '../commands/support/killed-vloc.ts';
import { normalize } from '../golden/normalize.ts';
import { splitWords } from '../golden/stage.ts';
import { openMinimal } from '../hosted/run-hosted.ts';
import type { Hosted } from '../hosted/service.ts';
import type { StoredJob } from '../hosted/shapes.ts';
import { probeStreams } from '../support/media.ts';
import { rememberingPath } from '../support/remembered-programs.ts';
import type { Ended } from '../support/run-main.ts';
import { listTree } from '../support/untouched.ts';
import {
  createNames,
  describeOthers,
  describeSums,
  differenceOf,
  plannedIn,
  type Sent,
  type Sums,
  shortened,
  sumOf,
  unitsOf,
} from './book.ts';

interface Runs {
  /** False for a run that has no plan, such as one that does not end by itself. */
  readonly plan?: false;
  /** How the plan differs from what was sent; default: it does not. */
  readonly differs?: string;
  /** Runs the words itself. Default: in this process, until it ends. */
  readonly by?: (words: readonly string[]) => Promise<Ended>;
}

export interface Desk {
  readonly hosted: Hosted;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  path(name: string): string;
  /** Records what happens besides the runs. */
  note(text: string): void;
  /** Runs a command, and records what its plan says, what it sends, pays and writes. */
  run(line: string, options?: Runs): Promise<void>;
  /** Writes a text of the user, or a video of two seconds. */
  put(name: string, text?: string | Buffer): Promise<void>;
  edit(name: string, from: string, to: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
  remove(...names: string[]): Promise<void>;
  /** The user does not need these files any more. */
  give(...names: string[]): void;
  /** Runs a command in a process that is killed at a request: before the service does it, or when it is done. */
  kill(line: string, at: Moment, request: string, time?: number): Promise<void>;
  /** Later runs see the time later by so many hours. */
  pass(hours: number): void;
}

export interface Scene {
  readonly name: string;
  readonly play: (desk: Desk) => Promise<void>;
  /** How the service translates a line. */
  readonly translate?: (text: string, language: string) => string;
  /** Words that the last command is repeated with, to show that nothing is sent; null if it cannot be. Default: the same. */
  readonly repeat?: string | null;
}

/** Two seconds with a tone. */
export const CLIP = join(import.meta.dirname, '../fixtures/two-seconds.mp4');
/** As shells say it: 128 and the number of the signal. */
const EXIT_OF_KILLED = 137;
const HOUR_MS = 60 * 60_000;
const TEXTS = ['.srt', '.vtt', '.ass', '.csv'];
const MEDIA = ['.mp4', '.wav'];

const shortDigest = (bytes: Buffer | string) => hash('sha256', bytes).slice(0, 8);

/** Plays a scene. @returns the block that is recorded */
export async function playScene({ play, translate, repeat }: Scene): Promise<string> {
  let passedMs = 0;
  const now = () => Date.now() + passedMs;
  const made = new Map<string, number>();
  /** The same wherever the job comes in the order of requests, another for a second job of the same. */
  const mark = ({ path, input, language }: Pick<StoredJob, 'path' | 'input' | 'language'>) => {
    const purpose = `${path} ${language} ${input.slice(0, 8)}`;
    made.set(purpose, (made.get(purpose) ?? 0) + 1);
    return `${made.get(purpose)} ${purpose}`;
  };
  const options = { now, mark, ...(translate === undefined ? {} : { translate }) };
  const { hosted, folder, env: own, run: runHosted } = await openMinimal(options);
  const env = { ...own, PATH: rememberingPath() };
  const path = (name: string) => join(folder, name);
  /** Files of the user, which no run may change. */
  const inputs = new Map<string, string>();
  const stable = new Set<string>();
  const seen = new Set<StoredJob>();
  const block: string[] = [];
  const names = createNames(hosted, (bytes) => stable.has(hash('sha256', bytes)));
  const note = (text: string) => void block.push(`# ${text}`);
  const tell = (what: string, text: string) => block.push(`  ${what.padEnd(9)}${text}`.trimEnd());
  const runHere = (words: readonly string[]) => runHosted(words, { env, now, limits: LIMITS });
  const last = { line: '', code: 0 };

  async function keep(name: string): Promise<void> {
    const digest = hash('sha256', await readFile(path(name)));
    inputs.set(name, digest);
    stable.add(digest);
  }

  async function plan(words: readonly string[]): Promise<Sums> {
    const at = hosted.requests.length;
    const { code, stdout, stderr } = await runHere([...words, '--dry-run', '-o', 'json']);
    expect(hosted.requests.slice(at).filter(({ method }) => method !== 'GET')).toEqual([]);
    const planned = plannedIn(stdout);
    tell('plan', [describeSums(planned), ...describeOthers(stdout)].join(', '));
    if (code !== 0) tell('', `exit ${code} ${errorIn(stderr, folder)}`);
    return planned;
  }

  /** Records the requests of a run. @returns the jobs that are new */
  function tellRequests(sent: readonly Sent[]): readonly StoredJob[] {
    for (const upload of names.uploadsOf(sent)) tell('upload', upload);
    for (const { kind, body, key } of names.entriesOf(sent)) {
      const repeated = names.isRepeated(key) ? 'again ' : '';
      const job = [...hosted.jobs.values()].find(({ intent }) => intent === key);
      const state = job === undefined ? 'no job' : describeState(job);
      tell(names.keyOf(key), `${repeated}${kind}, ${state}`);
      tell('', body);
    }
    for (const { method, url } of sent) {
      const job = hosted.jobs.get(decodeURIComponent(url.split('/').at(-1) ?? ''));
      if (method === 'DELETE') tell('withdrawn', job === undefined ? url : names.keyOf(job.intent));
    }
    if (sent.length === 0) tell('sent', 'no request');
    else if (sent.every(({ method }) => method === 'GET')) tell('sent', 'nothing');
    const found = [...hosted.jobs.values()].filter((job) => !seen.has(job));
    for (const job of found) seen.add(job);
    return found;
  }

  async function tellFiles(before: ReadonlyMap<string, Buffer>): Promise<void> {
    const after = await readFiles(folder);
    const all = [...new Set([...before.keys(), ...after.keys()])].sort();
    for (const name of all) {
      const [was, is] = [before.get(name), after.get(name)];
      if (is === undefined) tell('-', name);
      else if (was === undefined) tell('+', `${name}: ${describeFile(name, is)}`);
      else if (!was.equals(is)) tell('~', `${name}: ${describeFile(name, is)}`);
    }
  }

  function describeFile(name: string, bytes: Buffer): string {
    const jobs = [...hosted.jobs.values()].flatMap(({ intent, files }) =>
      Object.entries(files).flatMap(([asset, file]) =>
        file.bytes.equals(bytes) ? [`${asset} of ${names.keyOf(intent)}`] : [],
      ),
    );
    if (jobs.length > 0) return jobs.join(', ');
    if (TEXTS.includes(extname(name))) return `${bytes.length} bytes, ${shortDigest(bytes)}`;
    if (!MEDIA.includes(extname(name))) return 'made here';
    const { duration, streams } = probeStreams(path(name));
    const codecs = streams.map(({ codec_name }) => codec_name).join(' ');
    return `made here: ${codecs}, ${duration.toFixed(1)} s`;
  }

  async function carryOut(words: readonly string[], by: NonNullable<Runs['by']>): Promise<Sums> {
    const before = await readFiles(folder);
    const from = hosted.requests.length;
    const ended = await by([...words, '-o', 'json']);
    const jobs = tellRequests(hosted.requests.slice(from));
    tell(`exit ${ended.code}`, describeEnd(ended, folder));
    await tellFiles(before);
    for (const [name, digest] of inputs) {
      expect(hash('sha256', await readFile(path(name))), `the input ${name}`).toBe(digest);
    }
    last.code = ended.code;
    return sumOf(jobs);
  }

  const desk: Desk = {
    ...{ hosted, folder, env, path, note },
    async run(line, { plan: hasPlan, differs, by = runHere } = {}) {
      block.push(`$ vloc ${line}`);
      last.line = line;
      const words = splitWords(line);
      const planned = hasPlan === false ? null : await plan(words);
      const sent = await carryOut(words, by);
      const difference = planned === null ? null : differenceOf(planned, sent);
      if (difference !== null) tell('DIFFERS', difference);
      expect(difference, `the plan and the run of ${line}`).toBe(differs ?? null);
    },
    async put(name, text) {
      await mkdir(dirname(path(name)), { recursive: true });
      if (text === undefined) await copyFile(CLIP, path(name));
      else await writeFile(path(name), text);
      await keep(name);
    },
    async edit(name, from, to) {
      const text = await readFile(path(name), 'utf8');
      expect(text).toContain(from);
      await writeFile(path(name), text.replace(from, to));
      await keep(name);
      note(`${name}: "${shortened(from)}" becomes "${shortened(to)}"`);
    },
    async move(from, to) {
      await rename(path(from), path(to));
      if (inputs.delete(from)) await keep(to);
      note(`${from} is renamed to ${to}`);
    },
    async remove(...all) {
      for (const name of all) {
        await rm(path(name), { recursive: true });
        inputs.delete(name);
        note(`${name} is removed`);
      }
    },
    give(...all) {
      for (const name of all) inputs.delete(name);
      note(`${all.join(', ')} may be replaced`);
    },
    async kill(line, at, request, time = 1) {
      const by = (words: readonly string[]) =>
        runKilled({ hosted, folder, env }, words, { at, request, time });
      note(
        at === 'arrival'
          ? `killed before the service does ${request}`
          : `killed when the service has done ${request}, time ${time}`,
      );
      await desk.run(line, { plan: false, by });
    },
    pass(hours) {
      passedMs += hours * HOUR_MS;
      note(`${hours} hours pass`);
    },
  };
  await play(desk);
  if (repeat !== null) {
    block.push(`$ ${repeat === undefined ? 'the same again' : `vloc ${repeat}`}`);
    const words = splitWords(repeat ?? last.line);
    expect(describeSums(await plan(words)), 'what the plan of a second run says').toBe('nothing');
    const sums = await carryOut(words, runHere);
    expect(describeSums(sums), 'what a second run sends').toBe('nothing');
  }
  const paid = [...hosted.jobs.values()].filter(({ status }) => status === 'succeeded');
  block.push(`paid: ${describeSums(sumOf(paid))}`);
  expect((await readdir(folder, { recursive: true })).filter((name) => /\.part$/.test(name))).toEqual([]);
  return block.map((row) => `${row}\n`).join('');
}

/** In a process of its own, which gets no answer to the request at which it is killed. */
async function runKilled(
  { hosted, folder, env }: Pick<Desk, 'hosted' | 'folder' | 'env'>,
  words: readonly string[],
  { at, request, time }: { readonly at: Moment; readonly request: string; readonly time: number },
): Promise<Ended> {
  const killer = createKiller({
    ...{ at, time },
    isMeant: (method, url) => `${method} ${url}`.includes(request),
  });
  hosted.meet = async (...met) => {
    if (await killer.meet(...met)) throw new Error('nobody waits for an answer');
  };
  killer.child = spawnVloc(words, { folder, env });
  await expectKilled(killer.child);
  hosted.meet = async () => {};
  return { code: EXIT_OF_KILLED, stdout: '', stderr: '' };
}

/** Contents by relative path, without records. */
async function readFiles(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const isKept = (path: string) => !/^(state|config)\/|(^|\/)\.vloc\/|-journal$/.test(path);
  const paths = await listTree(folder, isKept);
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const)),
  );
}

/** When an accepted job is done depends on who looks at it. */
function describeState(job: StoredJob): string {
  const end = job.status === 'failed' || job.status === 'cancelled' ? job.status : 'accepted';
  return `${end}, units: ${unitsOf(job)}`;
}

interface Refusal {
  readonly code: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly message: string;
}

/** Code and reasons of the error that ends stderr, if one does. */
function errorIn(stderr: string, folder: string): string {
  const line = stderr.trimEnd().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) return '';
  const { error }: { error: Refusal } = JSON.parse(line);
  const parts = error.errors?.map(({ pointer, detail }) => `${pointer}: ${detail}`) ?? [];
  const reasons = parts.length === 0 ? error.message : parts.join('; ');
  const known = normalize(reasons, [[`${folder}/`, '']]);
  const named = known.replace(/\bthing_\d+/g, 'ID').replace(/\b\d{4}-\d\d-\d\d\b/g, 'DATE');
  return `${error.code} (${named})`;
}

interface Shown {
  readonly input: string;
  readonly target_language: string | null;
  readonly status: string | null;
  readonly error: { readonly code: string } | null;
}

function describeEnd({ stdout, stderr }: Ended, folder: string): string {
  const items: readonly Shown[] = stdout.startsWith('{') ? (JSON.parse(stdout).data ?? []) : [];
  const shown = items.map(({ input, target_language, status, error }) =>
    [input, target_language, status ?? 'no job', error?.code].filter((each) => each != null).join(' '),
  );
  return [errorIn(stderr, folder), shown.join(', ')].filter((each) => each !== '').join(': ');
}
