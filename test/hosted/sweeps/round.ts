/** One round of a sweep: commands in processes of their own that are killed at random, then run until they are done. */
import type { ChildProcess } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import { createKiller, type Moment, type Signal, spawnVloc } from '../../commands/support/killed-vloc.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { digestTree } from '../../support/untouched.ts';
import { createRandom, type Random } from '../../torture/random.ts';
import { readBooks } from '../books.ts';
import { environmentAt } from '../run-hosted.ts';
import { startHosted } from '../service.ts';
import { VARIANTS } from '../variants.ts';
import { digestWanted, type Edit, type Scene } from './scenes.ts';

export interface Media {
  readonly short: Buffer;
  readonly long: Buffer;
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
}

/** When a run is interrupted: at a request of its, before or after the work for it, or at a time. */
type Interruption =
  | { readonly at: Moment; readonly request: number }
  | { readonly at: 'time'; readonly ms: number };

/** Requests of a command that continues, of one that looks at subtitles, and of a whole localization. */
const MOST_REQUESTS = [3, 10, 30];
/** Time of such commands on a machine that does nothing else. */
const MOST_MS = [700, 1200, 2500];
const SIGNALS: readonly Signal[] = ['SIGKILL', 'SIGINT'];
/** A run that watches a folder does not end by itself when its moment never comes. */
const LONGEST_MS = 15_000;

function pickMoment(random: Random): Interruption {
  if (random.chance(0.3)) return { at: 'time', ms: random.between(100, random.pick(MOST_MS)) };
  const request = random.between(1, random.pick(MOST_REQUESTS));
  return { at: random.pick(['arrival', 'answer'] as const), request };
}

/** The video with an additional box at its end that players skip, so that each input differs. */
function markInput(video: Buffer, mark: string): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(8 + Buffer.byteLength(mark));
  return Buffer.concat([video, size, Buffer.from(`free${mark}`)]);
}

async function collect(child: ChildProcess): Promise<Ended> {
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, said: Buffer.concat(chunks).toString() }));
  });
}

/**
 * Returns how many runs were really interrupted.
 * @throws what did not hold, with the seed and what happened
 */
export async function playRound(scene: Scene, seed: number, media: Media): Promise<number> {
  const random = createRandom(seed);
  const slowest = random.between(200, 2000);
  const hosted = await startHosted(VARIANTS.minimal, new Set(), {
    jobMs: ({ number }) => slowest / ((number % 3) + 1),
    ...(scene.translate === undefined ? {} : { translate: scene.translate }),
  });
  const folder = makeFolder();
  /** What happened, for the report of a failure. */
  const history: string[] = [];
  /** Runs that a signal reached before they had ended by themselves. */
  let interrupted = 0;

  async function play(): Promise<void> {
    const { inputs, isLong, texts = {}, commands, opening = [] } = scene;
    for (const path of inputs) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      const mark = `${path} ${random.fraction()}`;
      await writeFile(join(folder, path), markInput(isLong === true ? media.long : media.short, mark));
    }
    for (const [path, text] of Object.entries(texts)) await writeFile(join(folder, path), text);
    const before = await digestTree(folder);
    for (const words of commands) {
      if ('path' in words) {
        await edit(words);
        continue;
      }
      const interruptions = random.between(1, 2);
      for (let count = 0; count < interruptions; count += 1) {
        const signal = random.pick(SIGNALS);
        const ended = await run([...words, ...opening], { moment: pickMoment(random), signal });
        expect(ended.said).not.toMatch(/INTERNAL_DEFECT|^\s+at .*:\d+:\d+/m);
      }
      // One run that continues is enough.
      expect((await run(words)).code, 'the exit code of the last run').toBe(0);
    }
    await check(before);
  }

  async function check(before: Readonly<Record<string, string>>): Promise<void> {
    const { results, made = [], inputs, texts = {}, commands, jobs } = scene;
    const books = readBooks(hosted);
    const isOwn = (path: string) => !/^(state|config)\/|(^|\/)\.vloc\//.test(path);
    const after = await digestTree(folder, isOwn);
    const given = [...inputs, ...Object.keys(texts)];
    const edited = new Set(commands.flatMap((words) => ('path' in words ? [words.path] : [])));
    const changed = given.filter((path) => !edited.has(path) && after[path] !== before[path]);
    expect(changed, 'inputs that were changed').toEqual([]);
    expect(Object.keys(after).sort()).toEqual([...given, ...made, ...results.map(({ path }) => path)].sort());
    for (const wanted of results) {
      expect(after[wanted.path], wanted.path).toBe(digestWanted(books, before, wanted));
    }
    const paidTwice = Object.entries(books.payments).filter(([, times]) => times > 1);
    expect(paidTwice, 'what was paid more than once').toEqual([]);
    expect(books.jobs.length, 'jobs that were paid').toBe(jobs);
    const kept = Object.keys(await digestTree(folder, (path) => path.includes('.vloc/')));
    expect(
      kept.filter((path) => /\.part/.test(path)),
      'parts that were left',
    ).toEqual([]);
  }

  async function edit({ path, from, to }: Edit): Promise<void> {
    const file = join(folder, path);
    const text = await readFile(file, 'utf8');
    expect(text).toContain(from);
    await writeFile(file, text.replace(from, to));
  }

  async function run(
    words: readonly string[],
    interruption?: { readonly moment: Interruption; readonly signal: Signal },
  ): Promise<Ended> {
    const env = { PATH: rememberingPath(), HOME: folder, ...environmentAt(hosted, folder) };
    const child = spawnVloc(words, { folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const disarm = interruption === undefined ? () => {} : arm(child, interruption);
    try {
      const ended = await collect(child);
      const { code, signal, said } = ended;
      if (signal !== null || code === EXIT_CODES.SIGINT.code) interrupted += 1;
      const how = interruption === undefined ? '' : ` ${JSON.stringify(interruption)}`;
      history.push(`$ vloc ${words.join(' ')}${how}\n${said}-> ${code ?? signal}`);
      return ended;
    } finally {
      disarm();
    }
  }

  function arm(
    child: ChildProcess,
    { moment, signal }: { readonly moment: Interruption; readonly signal: Signal },
  ): () => void {
    const timer = setTimeout(() => child.kill(signal), moment.at === 'time' ? moment.ms : LONGEST_MS);
    if (moment.at === 'time') return () => clearTimeout(timer);
    const killer = createKiller({ at: moment.at, isMeant: () => true, time: moment.request, signal });
    killer.child = child;
    hosted.meet = async (...met) => void (await killer.meet(...met));
    return () => {
      clearTimeout(timer);
      hosted.meet = async () => {};
    };
  }

  try {
    await play();
    return interrupted;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${scene.name}, VLOC_SWEEP_SEED=${seed}: ${why}\n${history.join('\n')}`, {
      cause: error,
    });
  } finally {
    await hosted.close();
  }
}
