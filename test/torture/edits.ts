/** Kills of the commands of an editor: subtitles, their table, its import, and burned videos with what was changed. */
import { spawn } from 'node:child_process';
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
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBooks } from '../hosted/books.ts';
import { startHosted } from '../hosted/service.ts';
import { VARIANTS } from '../hosted/variants.ts';
import { buildScript } from '../support/bundle-script.ts';
import { createRandom, type Random } from './random.ts';

const CLIP = join(import.meta.dirname, '../fixtures/two-seconds.mp4');
const SCRIPT = join(import.meta.dirname, '../commands/support/vloc-process.ts');
/** Enough for several kills of one command, and none is killed for ever. */
const KILLED_SHARE = 0.7;

const LOCALIZE = 'localize clip.mp4 --from en --to es';
const BURN = `${LOCALIZE} --from-subtitles --subtitle-output burned --subtitle-style box --terms terms.csv`;

/** A command, or what a person does to a file between two: all of it at once. */
type Step = string | { readonly file: string; readonly from: string; readonly to: string };

const WAY: readonly Step[] = [
  `${LOCALIZE} --stop-after translate`,
  'subtitles export . --to es --out review.csv --clobber',
  { file: 'review.csv', from: '[es] good morning', to: 'buenos días' },
  'subtitles import review.csv',
  BURN,
  { file: 'terms.csv', from: 'dias largos', to: 'días' },
  BURN,
  'subtitles convert clip.es.srt --to vtt --clobber',
];

interface Round {
  /** Digests of all files but records, by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly payments: Readonly<Record<string, number>>;
  /** How long each command took when it was not killed, in ms. */
  readonly lengths: readonly number[];
  readonly kills: number;
}

interface EditsEnd {
  readonly counts: { readonly kills: number; readonly rounds: number; readonly jobs: number };
  readonly violations: readonly string[];
}

/** Walks the way again and again until so many kills are done. */
export async function runEdits(seed: number, kills: number, tell: (line: string) => void): Promise<EditsEnd> {
  const random = createRandom(seed);
  const violations: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'vloc-edits-'));
  try {
    await buildScript(SCRIPT, join(folder, 'bundle'));
    const script = join(folder, 'bundle/vloc-process.mjs');
    const whole = await walk({ script, folder, violations, random: null, lengths: [], most: 0 });
    const counts = { kills: 0, rounds: 0, jobs: 0 };
    while (counts.kills < kills) {
      const most = kills - counts.kills;
      const round = await walk({ script, folder, violations, random, lengths: whole.lengths, most });
      compare(whole, round, violations);
      counts.kills += round.kills;
      counts.rounds += 1;
      counts.jobs += Object.keys(round.payments).length;
      tell(`  ${counts.kills} kills`);
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

interface Walk {
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
async function walk({ script, folder, violations, random, lengths, most }: Walk): Promise<Round> {
  const hosted = await startHosted(VARIANTS.minimal, new Set(), {
    jobMs: () => 0,
    credits: 100_000,
    mark: ({ path, input, language }) => `${path} ${language} ${input.slice(0, 8)}`,
  });
  const cwd = mkdtempSync(join(folder, 'round-'));
  const { prefix: VLOC_HEADER_PREFIX, key: VLOC_KEY, secret: VLOC_SECRET } = hosted.account;
  const own = { VLOC_CONFIG_DIR: join(folder, 'config'), VLOC_STATE_DIR: join(cwd, '.state') };
  const service = { VLOC_BASE_URL: hosted.baseUrl, VLOC_KEY, VLOC_SECRET, VLOC_HEADER_PREFIX };
  const env = { ...process.env, ...own, ...service };
  copyFileSync(CLIP, join(cwd, 'clip.mp4'));
  writeFileSync(join(cwd, 'terms.csv'), 'term,say:es\ndías,dias largos\n');
  const measured: number[] = [];
  let kills = 0;
  /** What a person wrote, which no command may change. */
  const kept = new Map(['clip.mp4', 'terms.csv'].map((name) => [name, digestOf(join(cwd, name))]));

  /** @returns false if it was killed */
  async function attempt(line: string, killAfterMs: number | null): Promise<boolean> {
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
    if (code !== 0) violations.push(`exit ${code} of ${line}: ${Buffer.concat(words).toString()}`);
    measured.push(Date.now() - startedAt);
    return true;
  }

  for (const step of WAY) {
    if (typeof step === 'string') {
      const longest = lengths[measured.length] ?? 0;
      const draw = () =>
        random !== null && kills < most && random.chance(KILLED_SHARE) ? random.between(0, longest) : null;
      while (!(await attempt(step, draw()))) kills += 1;
    } else {
      const path = join(cwd, step.file);
      const text = readFileSync(path, 'utf8');
      if (!text.includes(step.from)) violations.push(`${step.file} has no "${step.from}"`);
      writeFileSync(path, text.replace(step.from, step.to));
      kept.set(step.file, digestOf(path));
    }
  }
  const names = readdirSync(cwd, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(cwd, name)).isFile());
  for (const name of files) if (name.endsWith('.part')) violations.push(`left behind: ${name}`);
  const shown = files.filter((name) => !/^\.(vloc|state)\//.test(name));
  const { payments } = readBooks(hosted);
  await hosted.close();
  const digests = new Map(shown.map((name) => [name, digestOf(join(cwd, name))]));
  return { files: digests, payments, lengths: measured, kills };
}

function digestOf(path: string): string {
  return hash('sha256', readFileSync(path));
}
