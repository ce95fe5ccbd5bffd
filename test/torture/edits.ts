/** Kills of the commands of an editor, and of an owner of many videos and of a podcast, until each is done. */
import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'rolldown';
// @ts-expect-error: plain JavaScript has no types
import reportPage from '../../src/batch/page/rolldown.config.js';
import { readBooks } from '../hosted/books.ts';
import { startHosted } from '../hosted/service.ts';
import { VARIANTS } from '../hosted/variants.ts';
import { buildScript } from '../support/bundle-script.ts';
import { createRandom, type Random } from './random.ts';

const CLIP = join(import.meta.dirname, '../fixtures/two-seconds.mp4');
const SCRIPT = join(import.meta.dirname, '../commands/support/vloc-process.ts');
/** Enough for several kills of one command, and none is killed for ever. */
const KILLED_SHARE = 0.7;

/** What a killed run had packed completely. */
const ALREADY_PACKED = /lessons exists/;
/** Named by the time of the file that it is of. */
const OUTLINE = /\.vloc\/outlines\//;
const RECORD = /\/\.(vloc|state)\//;
const MOMENT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

const LOCALIZE = 'localize clip.mp4 --from en --to es';
const BURN = `${LOCALIZE} --from-subtitles --subtitle-output burned --subtitle-style box --terms terms.csv`;

/** A command, or what a person does to a file between two: all of it at once. */
type Step = string | { readonly file: string; readonly from: string; readonly to: string };

interface Way {
  /** Writes what the person has into an empty folder. */
  readonly begin: (folder: string) => void;
  readonly steps: readonly Step[];
}

export type WayName = keyof typeof WAYS;

const WAYS = {
  edits: {
    begin(folder) {
      copyFileSync(CLIP, join(folder, 'clip.mp4'));
      writeFileSync(join(folder, 'terms.csv'), 'term,say:es\ndías,dias largos\n');
    },
    steps: [
      `${LOCALIZE} --stop-after translate`,
      'subtitles export . --to es --out review.csv --clobber',
      { file: 'review.csv', from: '[es] good morning', to: 'buenos días' },
      'subtitles import review.csv',
      BURN,
      { file: 'terms.csv', from: 'dias largos', to: 'días' },
      BURN,
      'subtitles convert clip.es.srt --to vtt --clobber',
    ],
  },
  owners: {
    begin(folder) {
      copyFileSync(CLIP, join(folder, 'clip.mp4'));
      const tone = ['-f', 'lavfi', '-i', 'sine=f=440:d=2', '-metadata', 'title=Episode'];
      execFileSync('ffmpeg', ['-v', 'error', ...tone, '-c:a', 'libmp3lame', join(folder, 'episode.mp3')]);
    },
    steps: [
      'localize clip.mp4 --to es,ca --one-file --out out',
      'localize clip.mp4 --to es,ca,fr --one-file --default original --provenance --out out',
      'localize episode.mp3 --to es --loudness -16 --mark --provenance --out out',
      'localize clip.mp4 --to es --sound-only --loudness -16 --no-mark --out out',
      'localize clip.mp4 --to es --sound-only --loudness -23 --mark --provenance --clobber --out out',
      'localize clip.mp4 --to de,it --one-file --sound-only --out both',
      `${LOCALIZE},ca --from-subtitles --subtitle-output soft --one-file --provenance --out staged`,
      'batch pack out staged lessons.zip --clobber',
      'batch pack out staged lessons',
    ],
  },
} as const satisfies Record<string, Way>;

interface Round {
  /** What is there in the end, by name, with digests. */
  readonly files: ReadonlyMap<string, string>;
  readonly payments: Readonly<Record<string, number>>;
  /** How long each command took when it was not killed, in ms. */
  readonly lengths: readonly number[];
  readonly kills: number;
}

interface WayEnd {
  readonly counts: { readonly kills: number; readonly rounds: number; readonly jobs: number };
  readonly violations: readonly string[];
}

/** Walks a way again and again until so many kills are done. */
export async function runWay(
  name: WayName,
  seed: number,
  kills: number,
  tell: (line: string) => void,
): Promise<WayEnd> {
  const random = createRandom(seed);
  const violations: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'vloc-edits-'));
  try {
    await buildScript(SCRIPT, join(folder, 'bundle'));
    await build({ ...reportPage, output: { ...reportPage.output, dir: join(folder, 'bundle') } });
    const script = join(folder, 'bundle/vloc-process.mjs');
    const way = { ...WAYS[name], script, folder, violations };
    const whole = await walk({ ...way, random: null, lengths: [], most: 0 });
    const counts = { kills: 0, rounds: 0, jobs: 0 };
    while (counts.kills < kills) {
      const most = kills - counts.kills;
      const known = violations.length;
      const round = await walk({ ...way, random, lengths: whole.lengths, most });
      compare(whole, round, violations);
      counts.kills += round.kills;
      counts.rounds += 1;
      counts.jobs += Object.keys(round.payments).length;
      tell([`  ${counts.kills} kills`, ...violations.slice(known)].join('\n  '));
    }
    return { counts, violations };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compare(whole: Round, round: Round, violations: string[]): void {
  for (const [purpose, count] of Object.entries(round.payments))
    if (count !== 1) violations.push(`paid ${count} times: ${purpose}`);
  for (const purpose of Object.keys(round.payments))
    if (whole.payments[purpose] === undefined) violations.push(`paid, and not without kills: ${purpose}`);
  const names = new Set([...whole.files.keys(), ...round.files.keys()]);
  for (const name of names)
    if (whole.files.get(name) !== round.files.get(name)) violations.push(`other than without kills: ${name}`);
}

interface Walk extends Way {
  readonly script: string;
  /** For the folders of all rounds. */
  readonly folder: string;
  readonly violations: string[];
  /** Null for no kills. */
  readonly random: Random | null;
  readonly lengths: readonly number[];
  /** No more kills than these. */
  readonly most: number;
}

/** Walks the way once, each command until it is done. */
async function walk({
  begin,
  steps,
  script,
  folder,
  violations,
  random,
  lengths,
  most,
}: Walk): Promise<Round> {
  const hosted = await startHosted(VARIANTS.minimal, new Set(), {
    jobMs: () => 0,
    credits: 100_000,
    mark: ({ path, input, language }) => `${path} ${language} ${input.slice(0, 8)}`,
  });
  const cwd = mkdtempSync(join(folder, 'round-'));
  begin(cwd);
  const { prefix: VLOC_HEADER_PREFIX, key: VLOC_KEY, secret: VLOC_SECRET } = hosted.account;
  const own = { VLOC_CONFIG_DIR: join(folder, 'config'), VLOC_STATE_DIR: join(cwd, '.state') };
  const service = { VLOC_BASE_URL: hosted.baseUrl, VLOC_KEY, VLOC_SECRET, VLOC_HEADER_PREFIX };
  const env = { ...process.env, ...own, ...service };
  const measured: number[] = [];
  let kills = 0;
  /** What a person wrote, which no command may change. */
  const kept = new Map(readdirSync(cwd).map((name) => [name, digestOf(join(cwd, name))]));

  /** @returns false if it was killed */
  async function attempt(line: string, killAfterMs: number | null, isRepeated = false): Promise<boolean> {
    const startedAt = Date.now();
    const child = spawn(process.execPath, [script, ...line.split(' ')], {
      cwd,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const words: Buffer[] = [];
    child.stderr.on('data', (bytes) => words.push(bytes));
    const gone = once(child, 'close');
    if (killAfterMs !== null) await Promise.race([gone, sleep(killAfterMs)]);
    if (killAfterMs !== null) child.kill('SIGKILL');
    const [code, signal] = await gone;
    for (const [name, digest] of kept)
      if (digestOf(join(cwd, name)) !== digest) violations.push(`${name} was changed by ${line}`);
    if (signal !== null) return false;
    const said = Buffer.concat(words).toString();
    const isDone = code === 0 || (isRepeated && ALREADY_PACKED.test(said));
    if (!isDone) violations.push(`exit ${code} of ${line}: ${said}`);
    measured.push(Date.now() - startedAt);
    return true;
  }

  for (const step of steps) {
    if (typeof step === 'string') {
      const longest = lengths[measured.length] ?? 0;
      const draw = () =>
        random !== null && kills < most && random.chance(KILLED_SHARE) ? random.between(0, longest) : null;
      for (let before = kills; !(await attempt(step, draw(), kills > before)); ) kills += 1;
    } else {
      const path = join(cwd, step.file);
      const text = readFileSync(path, 'utf8');
      if (!text.includes(step.from)) violations.push(`${step.file} has no "${step.from}"`);
      writeFileSync(path, text.replace(step.from, step.to));
      kept.set(step.file, digestOf(path));
    }
  }
  const list = () => readdirSync(cwd, { recursive: true, encoding: 'utf8' });
  for (const name of list().filter((each) => each.endsWith('.zip'))) {
    execFileSync('python3', ['-m', 'zipfile', '-e', name, `${name} unpacked`], { cwd });
    rmSync(join(cwd, name));
    kept.delete(name);
  }
  const documents = list().filter((each) => each.endsWith('.provenance.json'));
  const results = documents.map((name) =>
    join(dirname(name), JSON.parse(readFileSync(join(cwd, name), 'utf8')).result.name),
  );
  if (results.length > 0) await attempt(`verify ${results.join(' ')}`, null);
  const { payments } = readBooks(hosted);
  await hosted.close();
  const found = list()
    .filter((name) => !OUTLINE.test(name))
    .map((name) => [name, digestOf(join(cwd, name))] as const);
  return { files: new Map(found), payments, lengths: measured, kills };
}

/** Of what a file says, without the moments in it; records only have to be there, and folders. */
function digestOf(path: string): string {
  if (statSync(path).isDirectory() || RECORD.test(path)) return '';
  const bytes = readFileSync(path);
  if (!/\.(json|html)$/.test(path)) return hash('sha256', bytes);
  // A page lists jobs that ran at the same time in the order of their ends.
  const parts = bytes.toString().replaceAll(MOMENT, '').split(/[{}]/);
  return hash('sha256', parts.toSorted().join('\n'));
}
