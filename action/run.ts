/**
 * Runs vloc for `action.yml`: the inputs are in variables, the results go to the outputs of the step, the report to its summary, and
 * what failed to annotations.
 * Arguments: the command that starts vloc. Ends with its exit code.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';

const COMMANDS = ['localize', 'separate', 'recognize', 'translate', 'dub'];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs vloc; its messages appear in the log of the step. */
function run(vloc: readonly string[], args: readonly string[]): Promise<Ended> {
  const [program = '', ...first] = vloc;
  const prefix = setting('HEADER_PREFIX');
  const env = { ...process.env, ...(prefix === '' ? {} : { VLOC_HEADER_PREFIX: prefix }) };
  const child = spawn(program, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  // The runner ends a cancelled step by signals to this process alone.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    stderr += text;
  });
  return new Promise((end, reject) => {
    child.on('error', reject);
    child.on('close', (code) => end({ code: code ?? 1, stdout, stderr }));
  });
}

function setting(name: string): string {
  return (process.env[`VLOC_ACTION_${name}`] ?? '').trim();
}

function lines(text: string): string[] {
  return text.split('\n').flatMap((line) => line.trim() || []);
}

/** Writes to a file that the runner names in a variable; without a runner, there is none. */
function append(variable: string, text: string): void {
  const path = process.env[variable];
  if (path !== undefined && path !== '') appendFileSync(path, text);
}

/** The path of a file relative to a folder; null if it is not below it. */
function pathBelow(folder: string, path: string): string | null {
  const way = relative(folder, resolve(path));
  return way === '' || way.startsWith('..') || isAbsolute(way) ? null : way;
}

/** Escaped as the toolkit of the runner does. */
function escapeText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** An annotation, at the file of an input if it has one in the workspace. */
function annotate(message: string, title = 'vloc', input = ''): void {
  const file = existsSync(input) ? pathBelow(process.env.GITHUB_WORKSPACE || process.cwd(), input) : null;
  const place = file === null ? '' : `file=${escapeProperty(file)},`;
  process.stdout.write(`::error ${place}title=${escapeProperty(title)}::${escapeText(message)}\n`);
}

/** A problem of the workflow. */
function refuse(message: string): never {
  annotate(message);
  process.exit(2);
}

/** Null for text that is not JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Annotates the items that failed; without items, the problems for which the command was refused. */
function annotateFailures({ stdout, stderr }: Ended): void {
  // Source: `vloc schema localize`.
  const run = readJson(stdout) as {
    data: {
      input: string;
      target_language: string | null;
      error: { code: string; message: string } | null;
    }[];
  } | null;
  for (const { input, target_language: target, error } of run?.data ?? []) {
    if (error === null) continue;
    const title = target === null ? error.code : `${error.code} (${target})`;
    annotate(`${input}: ${error.message}`, title, input);
  }
  // Source: docs/scripting.md.
  const refused = readJson(stderr.trim().split('\n').at(-1) ?? '') as {
    error?: { code: string; message: string; errors?: { pointer: string; detail: string }[] };
  } | null;
  if (run !== null || refused?.error === undefined) return;
  const { code, message, errors = [] } = refused.error;
  for (const { pointer, detail } of errors) annotate(`${pointer}: ${detail}`, code, pointer);
  if (errors.length === 0) annotate(message, code);
}

const [command, out, to, maxCredits] = [
  setting('COMMAND'),
  setting('OUT'),
  setting('TO'),
  setting('MAX_CREDITS'),
];
// Written in one way: the tables and reports call the items so.
const inputs = lines(setting('INPUTS')).map((input) =>
  /^[a-z][a-z0-9+.-]+:\/\//i.test(input) ? input : (pathBelow(process.cwd(), input) ?? input),
);
if (!COMMANDS.includes(command)) refuse(`the input "command" must be one of ${COMMANDS.join(', ')}`);
if (inputs.length === 0)
  refuse('the input "inputs" names nothing; write videos, folders or globs, one per line');
if (out === '' || out === '-') refuse('the input "out" must name a folder');

const vloc = process.argv.slice(2);
const ended = await run(vloc, [
  command,
  ...(to === '' ? [] : [`--to=${to}`]),
  ...(setting('SKIP_DONE') === 'false' ? [] : ['--skip-done']),
  ...(maxCredits === '' ? [] : [`--max-credits=${maxCredits}`]),
  ...lines(setting('OPTIONS')),
  `--out=${out}`,
  '--output=json',
  '--',
  ...inputs,
]);
annotateFailures(ended);

const report = await run(vloc, ['batch', 'report', out, '--format=json', '--quiet']);
if (report.code === 0) {
  // Source: `vloc batch report --format json`.
  const { items, credits } = JSON.parse(report.stdout) as {
    items: { files: { path: string }[] }[];
    credits: { charged: number; unknown: number } | null;
  };
  const page = join(out, 'report.html');
  const markdown = await run(vloc, ['batch', 'report', out, '--quiet']);
  await run(vloc, ['batch', 'report', out, '--html', '--quiet']);
  append('GITHUB_STEP_SUMMARY', markdown.stdout);
  // The files of earlier runs were on other runners.
  const results = items
    .flatMap(({ files }) => files.map(({ path }) => path))
    .filter((path) => existsSync(path));
  // Null without a job. A sum that lacks the cost of a job would look like what was spent.
  const spent = credits === null ? 0 : credits.unknown > 0 ? 'unknown' : credits.charged;
  append('GITHUB_OUTPUT', `results=${JSON.stringify(results)}\nreport=${page}\ncredits=${spent}\n`);
}
process.exit(ended.code);
