/**
 * Runs vloc for `action.yml`: the inputs are in variables, the results go to the outputs of the step and the report to its summary.
 * Arguments: the command that starts vloc. Ends with its exit code.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

const COMMANDS = ['localize', 'separate', 'recognize', 'translate', 'dub'];

interface Ended {
  readonly code: number;
  readonly stdout: string;
}

/** Runs vloc; its messages appear in the log of the step. */
function run(vloc: readonly string[], args: readonly string[]): Promise<Ended> {
  const [program = '', ...first] = vloc;
  const child = spawn(program, [...first, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  // The runner ends a cancelled step by signals to this process alone.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, stdout }));
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

/** A problem of the workflow, as an annotation. */
function refuse(message: string): never {
  process.stdout.write(`::error title=vloc::${message}\n`);
  process.exit(2);
}

const [command, out, to, maxCredits] = [
  setting('COMMAND'),
  setting('OUT'),
  setting('TO'),
  setting('MAX_CREDITS'),
];
const inputs = lines(setting('INPUTS'));
if (!COMMANDS.includes(command)) refuse(`the input "command" must be one of ${COMMANDS.join(', ')}`);
if (inputs.length === 0)
  refuse('the input "inputs" names nothing; write videos, folders or globs, one per line');
if (out === '' || out === '-') refuse('the input "out" must name a folder');

const vloc = process.argv.slice(2);
const { code } = await run(vloc, [
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
process.exit(code);
