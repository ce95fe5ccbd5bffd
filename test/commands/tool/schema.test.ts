import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import { main } from '../../../src/cli/main.ts';
import { describePrinted } from '../../../src/commands/tool/describe-commands.ts';
import { COMMANDS } from '../../../src/commands/tree.ts';
import { ENVIRONMENT } from '../../../src/profiles/environment.ts';
import { OPERATIONS } from '../../../src/protocol/operations.ts';
import { createTestIo } from '../../support/test-io.ts';

async function run(env: Record<string, string>, ...words: string[]) {
  const { io, stdout } = createTestIo({ env });
  expect(await main(['schema', ...words], io)).toBe(0);
  return stdout();
}

test('the document is printed without a service, for the configured service', async () => {
  const plain = JSON.parse(await run({}));
  expect([plain.openapi, plain.servers]).toEqual(['3.1.0', [{ url: '/v1' }]]);
  const env = { VLOC_BASE_URL: 'https://api.example.com/v1/', VLOC_HEADER_PREFIX: 'X-Vendor' };
  const hosted = JSON.parse(await run(env, '--output', 'ndjson'));
  expect(hosted.servers).toEqual([{ url: 'https://api.example.com/v1' }]);
  expect(hosted.components.securitySchemes.nonce.name).toBe('X-Vendor-Nonce');
});

test('--output id prints the names of the operations', async () => {
  expect((await run({}, '-o', 'id')).trim().split('\n')).toEqual(OPERATIONS.map((each) => each.operationId));
});

test('--commands describes every command with its options, the exit codes and the variables', async () => {
  const { commands, global_options, exit_codes, environment } = JSON.parse(await run({}, '--commands'));
  const names = COMMANDS.map(({ words }) => words.join(' '));
  expect(commands.map((each: { command: string }) => each.command)).toEqual(names);
  expect((await run({}, '--commands', '-o', 'id')).trim().split('\n')).toEqual(names);
  const translate = commands.find((each: { command: string }) => each.command === 'translate');
  expect(translate.operands).toMatchObject({ name: 'input', count: 'any' });
  const options = Object.fromEntries(translate.options.map((each: { name: string }) => [each.name, each]));
  expect(options['--to']).toMatchObject({ type: 'list', value: 'tags', required: true, repeatable: true });
  expect(options['--order']).toMatchObject({ type: 'choice', choices: ['given', 'size', 'name'] });
  expect(global_options).toContainEqual(expect.objectContaining({ name: '--color', default: 'auto' }));
  expect(exit_codes.map((each: { code: number }) => each.code)).toEqual(
    Object.values(EXIT_CODES).map(({ code }) => code),
  );
  expect(environment.map((each: { name: string }) => each.name)).toEqual(Object.keys(ENVIRONMENT));
});

test('the schemas of the output of a command are printed if it is named', async () => {
  const { json, ndjson } = JSON.parse(await run({}, 'credits'));
  expect(json.properties.object).toEqual({ const: 'credit_balance' });
  expect(ndjson.anyOf).toHaveLength(2);
});

test.each(COMMANDS.map(({ words, leaf }) => ({ name: words.join(' '), leaf })))(
  'the schemas of `$name` are valid, and have the fields that --fields accepts',
  async ({ leaf }) => {
    const command = await leaf.load();
    const { json, ndjson } = describePrinted(command.prints);
    const ajv = new Ajv2020({ strict: true, strictTypes: false });
    for (const schema of [json, ndjson]) if (schema !== null) ajv.compile(schema);
    const text = JSON.stringify([json, ndjson]);
    const unnamed = (command.fields?.() ?? []).filter((field) => !text.includes(`"${field}":{`));
    expect(unnamed).toEqual([]);
  },
);

test.each([
  [['nonsense'], '`vloc schema --commands --output id` lists all commands.'],
  [['jobs'], 'Commands: jobs list, jobs get'],
  [['credit'], 'Did you mean credits?'],
  [['--commands', 'credits'], 'Leave out the command or the option.'],
])('%j is refused with advice', async (words, advice) => {
  const { io, stdout, stderr } = createTestIo();
  expect(await main(['schema', ...words], io)).toBe(2);
  expect([stdout(), stderr()]).toEqual(['', expect.stringContaining(advice)]);
});
