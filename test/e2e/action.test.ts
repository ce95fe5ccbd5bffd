/** The script of the GitHub Action, with the installed tool and the embedded service, as a runner starts it. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Finished, finish, type Installation, openInstallation } from './packed.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const SCRIPT = join(PROJECT, 'action/run.ts');

let vloc: Installation;
beforeAll(async () => {
  vloc = await openInstallation();
  const cues = '1\n00:00:00,000 --> 00:00:02,000\nGood morning.\n';
  writeFileSync(join(vloc.folder, 'talk.srt'), cues);
  writeFileSync(join(vloc.folder, '--to=fr.srt'), cues);
  writeFileSync(join(vloc.folder, 'broken.srt'), 'no cues');
});
afterAll(() => vloc.remove());

interface Step extends Finished {
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
}

let steps = 0;

async function runStep(inputs: Readonly<Record<string, string>>): Promise<Step> {
  steps += 1;
  const at = (name: string) => join(vloc.folder, `${name}-${steps}`);
  const read = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');
  const settings = Object.entries({ COMMAND: 'translate', TO: 'es', OUT: 'out', ...inputs });
  const env = {
    ...vloc.env,
    ...Object.fromEntries(settings.map(([name, value]) => [`VLOC_ACTION_${name}`, value])),
    GITHUB_OUTPUT: at('outputs'),
    GITHUB_STEP_SUMMARY: at('summary'),
  };
  const ended = await finish(process.execPath, [SCRIPT, vloc.program], vloc.folder, env);
  const rows = read('outputs').split('\n').slice(0, -1);
  const outputs = Object.fromEntries(
    rows.map((row) => [row.slice(0, row.indexOf('=')), row.slice(row.indexOf('=') + 1)]),
  );
  return { ...ended, outputs, summary: read('summary') };
}

describe('a step', () => {
  const STEP = { INPUTS: './talk.srt\n  \n--to=fr.srt\n', OPTIONS: '--from=en', MAX_CREDITS: '5' };

  it('runs vloc, prints where the results and the report are and what they cost, and pays nothing twice', async () => {
    const { code, stderr, outputs, summary } = await runStep(STEP);
    expect(code, stderr).toBe(0);
    const results = ['talk.es.srt', '--to=fr.es.srt'].map((name) => join(vloc.folder, 'out', name));
    expect(JSON.parse(outputs.results ?? '').sort()).toEqual(results.sort());
    for (const path of results) expect(readFileSync(path, 'utf8')).toMatch(/buen/i);
    expect(readFileSync(join(vloc.folder, outputs.report ?? ''), 'utf8')).toContain('talk.srt');
    expect(outputs.credits).toBe('2');
    expect(summary).toContain('| talk.srt → es |');
    // The journal is there and a result is not: it counts as done, and only files that are there are named.
    rmSync(join(vloc.folder, 'out/talk.es.srt'));
    const again = await runStep(STEP);
    expect([again.code, again.outputs.credits], again.stderr).toEqual([0, '2']);
    expect(JSON.parse(again.outputs.results ?? '')).toEqual([join(vloc.folder, 'out/--to=fr.es.srt')]);
  });

  it('that fails ends with the exit code of vloc, after the report on what succeeded', async () => {
    const { code, outputs, summary } = await runStep({
      ...STEP,
      INPUTS: `${join(vloc.folder, 'talk.srt')}\n${join(vloc.folder, '--to=fr.srt')}`,
      MAX_CREDITS: '1',
      OUT: 'other',
    });
    expect([code, outputs.credits]).toEqual([6, '1']);
    expect(summary).toMatch(/1 done/);
    // Named in one way, however they are written.
    const names = [...summary.matchAll(/^\| (\S+) → \S+ \|/gm)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(['talk.srt', '--to=fr.srt']));
  });

  it('with unusable input sends nothing, has no report, and annotates the file', async () => {
    const inputs = { ...STEP, INPUTS: 'broken.srt\ntalk.srt', OUT: 'none' };
    const { code, stdout, stderr, outputs } = await runStep(inputs);
    expect([code, outputs]).toEqual([2, {}]);
    expect(stderr).toContain('not usable as subtitles');
    expect(stdout).toMatch(
      /^::error file=broken\.srt,title=[A-Z_]+::broken\.srt: not usable as subtitles.*$/m,
    );
  });

  it('annotates each item that failed with its file, escaped and relative to the workspace', async () => {
    mkdirSync(join(vloc.folder, 'week'));
    writeFileSync(join(vloc.folder, 'week/100%, part: 1.srt'), 'no cues');
    copyFileSync(join(vloc.folder, 'talk.srt'), join(vloc.folder, 'week/talk.srt'));
    const { code, stdout, summary } = await runStep({ ...STEP, INPUTS: 'week', OUT: 'annotated' });
    expect(code, stdout).toBe(3);
    expect(stdout.split('\n').filter((line) => line.startsWith('::error'))).toEqual([
      expect.stringMatching(
        /^::error file=week\/100%25%2C part%3A 1\.srt,title=NOT_USABLE \(es\)::week\/100%25, part: 1\.srt: /,
      ),
    ]);
    expect(summary).toMatch(/^# annotated\n/);
  });

  it('tells vloc the header prefix of the service', async () => {
    const env = join(vloc.folder, 'print-prefix.mjs');
    writeFileSync(env, 'console.error(process.env.VLOC_HEADER_PREFIX); process.exit(1);');
    const step = { VLOC_ACTION_COMMAND: 'translate', VLOC_ACTION_INPUTS: 'talk.srt', VLOC_ACTION_OUT: 'out' };
    const given = { ...vloc.env, ...step, VLOC_ACTION_HEADER_PREFIX: 'X-Acme' };
    const { stderr } = await finish(process.execPath, [SCRIPT, process.execPath, env], vloc.folder, given);
    expect(stderr).toContain('X-Acme');
  });

  it.each([
    [{ COMMAND: 'serve', INPUTS: 'talk.srt' }, 'the input "command" must be one of'],
    [{ INPUTS: 'talk.srt', OUT: '-' }, 'the input "out" must name a folder'],
  ])('with %j is refused in an annotation', async (inputs, message) => {
    const { code, stdout, outputs } = await runStep(inputs);
    expect([code, outputs]).toEqual([2, {}]);
    expect(stdout).toContain(`::error title=vloc::${message}`);
  });
});

describe('action.yml', () => {
  const text = readFileSync(join(PROJECT, 'action.yml'), 'utf8');
  const inputs = [...(/^inputs:\n([\s\S]*?)^outputs:/m.exec(text)?.[1] ?? '').matchAll(/^ {2}([\w-]+):$/gm)];

  it('uses each of its inputs', () => {
    expect(inputs.length).toBeGreaterThan(5);
    for (const [, name] of inputs) expect(text).toContain(`\${{ inputs.${name} }}`);
  });

  it('puts no input into a script, where a shell would run what it contains', () => {
    const scripts = [...text.matchAll(/run: \|\n((?: {8}.*\n)+)/g)].map(([, script]) => script);
    expect(scripts).toHaveLength(1);
    for (const script of scripts) expect(script).not.toContain('${{');
  });
});
