/**
 * Writes what is made from tables: parts of the README and the pages on exit codes, environment and errors.
 * `npm run generate` writes, `npm run generate -- --check` only compares and fails on a difference.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EXIT_CODES } from '../src/cli/exit-codes.ts';
import { COMMANDS } from '../src/commands/tree.ts';
import { ENVIRONMENT } from '../src/profiles/environment.ts';
import { ERROR_CODES } from '../src/protocol/error-codes.ts';
import { JOB_ERROR_CODES } from '../src/protocol/job-failure.ts';
import { JOB_KIND_NAMES } from '../src/protocol/kind-names.ts';
import { KINDS } from '../src/protocol/kinds.ts';
import { describeSettings } from '../src/service/operate/settings.ts';

type Cell = string | number;

function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const commands = table(
  ['command', 'what it does'],
  COMMANDS.map(({ words, leaf }) => [`\`vloc ${words.join(' ')}\``, leaf.summary]),
);

const kinds = table(
  ['kind', 'path', 'what it does', 'counted by'],
  JOB_KIND_NAMES.map((name) => [name, `/v1/${KINDS[name].path}`, KINDS[name].summary, KINDS[name].unit]),
);

const exitCodes = table(
  ['code', 'meaning', 'run again?'],
  Object.values(EXIT_CODES).map((row) => [row.code, row.meaning, row.again]),
);

const environment = table(
  ['variable', 'meaning'],
  Object.entries(ENVIRONMENT).map(([name, meaning]) => [`\`${name}\``, meaning]),
);

const errors = table(
  ['status', 'code', 'retryable', 'meaning', 'what to do'],
  Object.entries(ERROR_CODES).map(([code, row]) => [
    row.status,
    `\`${code}\``,
    row.retryable ? 'yes' : 'no',
    row.title,
    row.advice,
  ]),
);

const jobErrors = table(
  ['code', 'retryable'],
  Object.entries(JOB_ERROR_CODES).map(([code, row]) => [`\`${code}\``, row.retryable ? 'yes' : 'no']),
);

const settings = table(
  ['setting', 'option', 'default', 'meaning'],
  describeSettings().map((row) => [
    `\`${row.name}\``,
    row.flag === '' ? '' : `\`${row.flag}\``,
    row.default,
    row.meaning,
  ]),
);

/** The named blocks, each between `<!-- generated: NAME -->` and `<!-- end -->` in a page. */
const BLOCKS: Readonly<Record<string, string>> = {
  commands,
  kinds,
  exitCodes,
  environment,
  errors,
  jobErrors,
  settings,
};
const PAGES = ['../README.md', 'protocol.md', 'exit-codes.md', 'environment.md', 'errors.md', 'service.md'];

function fill(page: string): string {
  return page.replace(
    /(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, open: string, name: string, close: string) => {
      const block = BLOCKS[name];
      if (block === undefined) throw new Error(`there is no generated block "${name}"`);
      return `${open}${block}\n${close}`;
    },
  );
}

const check = process.argv.includes('--check');
const stale: string[] = [];
for (const name of PAGES) {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const before = readFileSync(path, 'utf8');
  const after = fill(before);
  if (after === before) continue;
  stale.push(name);
  if (!check) writeFileSync(path, after);
}
if (check && stale.length > 0) {
  process.stderr.write(`Not current: ${stale.join(', ')}. Run \`npm run generate\` and commit the result.\n`);
  process.exitCode = 1;
}
