import { flagOption } from '../../base/option.ts';
import { OPERATIONS, VERSION_PREFIX } from '../../protocol/operations.ts';
import { type CalledCommand, type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { Anything } from '../context/output-schemas.ts';

/** A document of its own kind, such as an OpenAPI document. */
const DOCUMENT = { json: [Anything], ndjson: [Anything] };

/** Creates the command. @param all commands, which it describes */
export const schemaCommand = (all: readonly CalledCommand[]): Command =>
  defineCommand({
    operands: {
      name: 'command',
      count: 'any',
      help: 'command whose output to describe as JSON Schemas, such as jobs wait',
    },
    options: {
      commands: flagOption(
        'print all commands with their options, the exit codes and the environment variables',
      ),
    },
    examples: [
      { command: 'vloc schema > openapi.json', explains: 'the OpenAPI document of the interface' },
      { command: 'vloc schema --output id', explains: 'the names of all operations' },
      { command: 'vloc schema --commands', explains: 'the commands of vloc, for programs that call it' },
      {
        command: 'vloc schema localize --jq .ndjson',
        explains: 'the JSON Schema of the lines that `vloc localize --output ndjson` prints',
      },
    ],
    notes: [
      'No service is needed. VLOC_BASE_URL and VLOC_HEADER_PREFIX are written into the OpenAPI document if they are set.',
      'The schemas of a command are those of its output without --fields and --jq: json of the whole output with --output ' +
        'json, ndjson of each line with --output ndjson; null for a format that it does not have. Later versions may add members.',
    ],
    prints: DOCUMENT,
    run: async (context, words, { commands }) => {
      if (commands && words.length > 0)
        throw invalidCallFailure('--commands is about all commands', 'Leave out the command or the option.');
      const document = await createDocument(all, context, words, commands);
      await context.present.show({ document: () => document, ids: () => listNames(all, commands) });
      return 0;
    },
  });

function listNames(all: readonly CalledCommand[], commands: boolean): readonly string[] {
  return commands
    ? all.map(({ words }) => words.join(' '))
    : OPERATIONS.map(({ operationId }) => operationId);
}

async function createDocument(
  all: readonly CalledCommand[],
  { io }: Pick<Context, 'io'>,
  words: readonly string[],
  commands: boolean,
): Promise<object> {
  if (commands || words.length > 0) {
    const { describeCommands, describeOutput } = await import('./describe-commands.ts');
    return commands ? describeCommands(all) : describeOutput(all, words);
  }
  const { createOpenApiDocument } = await import('../../protocol/openapi/document.ts');
  const { VLOC_BASE_URL: baseUrl = '', VLOC_HEADER_PREFIX: headerPrefix = '' } = io.env;
  return createOpenApiDocument({
    baseUrl: baseUrl === '' ? VERSION_PREFIX : baseUrl.replace(/\/+$/, ''),
    ...(headerPrefix === '' ? {} : { headerPrefix }),
  });
}
