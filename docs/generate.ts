/**
 * Generates documentation from the tables in the source: the marked blocks of README.md and docs/*.md, llms.txt and schemas.
 * `npm run generate` writes them; `npm run generate -- --check` only compares and fails if one is out of date.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import packageFile from '../package.json' with { type: 'json' };
import { EXIT_CODES } from '../src/base/exit-codes.ts';
import { PROVENANCE_SCHEMA_ADDRESS, ProvenanceFile } from '../src/batch/provenance-file.ts';
import type { ToolEffect } from '../src/commands/context/command.ts';
import { COMMAND_SECTIONS, COMMANDS } from '../src/commands/tree.ts';
import { EnginesFile, SCHEMA_ADDRESS } from '../src/engines/config.ts';
import { LOOK_SCHEMA_ADDRESS, LookFile } from '../src/media/subtitles/look.ts';
import { STYLE_SCHEMA_ADDRESS, StyleFile } from '../src/media/subtitles/style.ts';
import { ENVIRONMENT } from '../src/profiles/environment.ts';
import { ERROR_CODES } from '../src/protocol/error-codes.ts';
import { JOB_ERROR_CODES } from '../src/protocol/job-failure.ts';
import { JOB_KIND_NAMES } from '../src/protocol/kind-names.ts';
import { KINDS } from '../src/protocol/kinds.ts';
import { describeField } from '../src/service/control/fields.ts';
import { CONTROL_LIST } from '../src/service/control/operations.ts';
import { describeSettings } from '../src/service/operate/settings.ts';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const current = (name: string) => (existsSync(pathOf(name)) ? readFileSync(pathOf(name), 'utf8') : '');

type Cell = string | number;

function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const commands = COMMANDS.map(({ words, leaf }) => `- \`vloc ${words.join(' ')}\`: ${leaf.summary}`).join(
  '\n',
);

const commandGroups = table(
  ['group', 'commands'],
  COMMAND_SECTIONS.map(({ title, rows }) => [
    title.replace(/:$/, ''),
    rows.map(({ name }) => `\`${name}\``).join(', '),
  ]),
);

const kinds = table(
  ['kind', 'path', 'what it does', 'counted by'],
  JOB_KIND_NAMES.map((name) => [name, `/v1/${KINDS[name].path}`, KINDS[name].summary, KINDS[name].unit]),
);

const exitCodes = table(
  ['code', 'meaning', 'run again?'],
  Object.values(EXIT_CODES).map((row) => [row.code, row.meaning, row.again]),
);

const environment = Object.entries(ENVIRONMENT)
  .map(([name, meaning]) => `- \`${name}\`: ${meaning}`)
  .join('\n');

const errors = table(
  ['status', 'code', 'retryable', 'what to do'],
  Object.entries(ERROR_CODES).map(([code, row]) => [
    row.status,
    `\`${code}\``,
    row.retryable ? 'yes' : 'no',
    row.advice,
  ]),
);

const jobErrors = table(
  ['retryable', 'codes'],
  [true, false].map((retryable) => [
    retryable ? 'yes' : 'no',
    Object.entries(JOB_ERROR_CODES)
      .filter(([, row]) => row.retryable === retryable)
      .map(([code]) => `\`${code}\``)
      .join(', '),
  ]),
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

const control = CONTROL_LIST.map(({ method, path, summary }) => `- \`${method} ${path}\`: ${summary}`).join(
  '\n',
);

const controlFields = table(
  ['field', 'of', 'value', 'meaning'],
  [...Map.groupBy(CONTROL_LIST.flatMap(rowsOfFields), ([, ...row]) => row.join('\n')).values()].map(
    (rows) => {
      const [, name = '', form = '', help = ''] = rows[0] ?? [];
      return [name, rows.map(([of]) => of).join(', '), form, help];
    },
  ),
);

/** Request, name (bold if required), form and meaning of each field of an operation. */
function rowsOfFields({ method, path, fields }: (typeof CONTROL_LIST)[number]): string[][] {
  return Object.entries(fields.entries).map(([name, field]) => {
    const { expected, help, isRequired } = describeField(field);
    return [`\`${method} ${path}\``, isRequired ? `**\`${name}\`**` : `\`${name}\``, expected, help];
  });
}

const EFFECTS: Readonly<Record<ToolEffect, string>> = {
  pays: '**credits**',
  writes: 'nothing; writes files',
  cancels: 'nothing; cannot be undone',
  reads: 'nothing',
};

const tools = table(
  ['command', 'tool', 'what it does', 'costs'],
  COMMANDS.flatMap(({ words, leaf }) =>
    leaf.tool === undefined
      ? []
      : [[`\`vloc ${words.join(' ')}\``, `\`${words.join('_')}\``, leaf.summary, EFFECTS[leaf.tool]]],
  ),
);

const toolCosts = table(
  ['costs', 'tools'],
  Object.entries(EFFECTS).map(([effect, costs]) => [
    costs,
    COMMANDS.filter(({ leaf }) => leaf.tool === effect)
      .map(({ words }) => `\`${words.join('_')}\``)
      .join(', '),
  ]),
);

/** For language models: what vloc is, its pages and its commands. Source: llmstxt.org. */
function llmsText(): string {
  const pages = readdirSync(pathOf('.')).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const links = pages.map((name) => {
    const [, title = name] = /^# (.+)$/m.exec(current(name)) ?? [];
    return `- [${title}](docs/${name})`;
  });
  return [
    '# vloc',
    `> ${packageFile.description}.`,
    'vloc translates and dubs videos, with a hosted service or on this machine. Programs use `--output json`, exit codes and stable error codes. ' +
      'With a hosted service jobs cost credits: `--dry-run` shows the cost, `--max-credits` limits it, and the same command again pays for nothing twice.',
    '## Documentation',
    [
      '- [README](README.md)',
      '- [SKILL.md](skills/vloc/SKILL.md): when to use which command, what costs, how to wait',
      ...links,
    ].join('\n'),
    '## Commands',
    commands,
    '## Exit codes',
    `${Object.values(EXIT_CODES)
      .map(({ code, meaning }) => `- ${code}: ${meaning}`)
      .join('\n')}\n`,
  ].join('\n\n');
}

/** Blocks by name. In a page, a block is between `<!-- generated: NAME -->` and `<!-- end -->`. */
const BLOCKS: Readonly<Record<string, string>> = {
  commands,
  commandGroups,
  kinds,
  exitCodes,
  environment,
  errors,
  jobErrors,
  settings,
  control,
  controlFields,
  tools,
  toolCosts,
};
const PAGES = [
  '../README.md',
  'commands.md',
  'protocol.md',
  'exit-codes.md',
  'environment.md',
  'errors.md',
  'service.md',
  'control.md',
  'agents.md',
  '../skills/vloc/SKILL.md',
];

function fill(page: string): string {
  return page.replace(
    /(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, open: string, name: string, close: string) => {
      const block = BLOCKS[name];
      if (block === undefined) throw new Error(`unknown generated block "${name}"`);
      return `${open}${block}\n${close}`;
    },
  );
}

/** For editors. Rules in code cannot be expressed in it, nor are spaces around values. */
function schemaText($id: string, title: string, schema: v.GenericSchema): string {
  const rules = toJsonSchema(schema, {
    target: 'draft-07', // what editors know best
    typeMode: 'input',
    ignoreActions: ['trim', 'check', 'metadata'], // the metadata is about options
  });
  return `${JSON.stringify({ $id, title, ...rules }, null, 2)}\n`;
}

/** Files that are generated completely. */
const FILES: Readonly<Record<string, string>> = {
  '../llms.txt': llmsText(),
  'engines.schema.json': schemaText(SCHEMA_ADDRESS, 'engines.json of vloc', EnginesFile),
  'burned-style.schema.json': schemaText(LOOK_SCHEMA_ADDRESS, 'burned subtitles of vloc', LookFile),
  'provenance.schema.json': schemaText(
    PROVENANCE_SCHEMA_ADDRESS,
    'provenance of a result of vloc',
    ProvenanceFile,
  ),
  'subtitle-style.schema.json': schemaText(STYLE_SCHEMA_ADDRESS, 'style of vloc subtitles', StyleFile),
};

const wanted = [...PAGES.map((name) => [name, fill(current(name))] as const), ...Object.entries(FILES)];
const stale = wanted.filter(([name, text]) => current(name) !== text);

if (!process.argv.includes('--check')) {
  for (const [name, text] of stale) writeFileSync(pathOf(name), text);
} else if (stale.length > 0) {
  const names = stale.map(([name]) => name).join(', ');
  process.stderr.write(`Out of date: ${names}. Run \`npm run generate\` and commit the result.\n`);
  process.exitCode = 1;
}
