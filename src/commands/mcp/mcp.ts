import { EXIT_CODES } from '../../base/exit-codes.ts';
import { numberOption, textsOption } from '../../base/option.ts';
import { type CalledCommand, type Command, defineCommand, invalidCallFailure } from '../context/command.ts';

/** Creates the command. @param all commands; those that the table marks become tools */
export const mcpCommand = (all: readonly CalledCommand[]): Command =>
  defineCommand({
    options: {
      read: textsOption('dir', 'folder with inputs, which agents may read; repeatable'),
      write: textsOption('dir', 'folder for results, which agents may read and write; repeatable', {
        required: true,
      }),
      maxCredits: numberOption(
        'n',
        'send no job that would raise the cost of all calls together above n credits',
        { from: 0 },
      ),
    },
    examples: [
      {
        command: 'vloc mcp --read videos --write results --max-credits 100',
        explains: 'offer vloc to an agent, with at most 100 credits in this session',
      },
    ],
    notes: [
      'Serves the Model Context Protocol over stdin and stdout; an agent starts it. Tools: the commands that run jobs, and ' +
        '`jobs`, `batch status`, `batch report`, `credits` and `engines list`. Links are resolved; paths must be inside the folders. Agents cannot change the ' +
        'folders or the limit.',
      'With --max-credits a job is sent only if its price is stated (VLOC_PRICE or the profile) or known from an earlier charge ' +
        'of its kind, or if the account cannot pay more than the limit.',
    ],
    // Messages of the Model Context Protocol, whatever --output is.
    prints: {},
    run: async (context, _operands, { read, write, maxCredits = null }) => {
      if (write.length === 0)
        throw invalidCallFailure(
          'no folder for results was given',
          'Name it with --write, such as --write results.',
        );
      if (context.io.stdin.isTTY === true)
        throw invalidCallFailure(
          'stdin is a terminal, and this command talks to a program',
          'See docs/agents.md.',
        );
      const [{ serveTools }, { makeTools }, { openFolders }, { createSession }] = await Promise.all([
        import('./server.ts'),
        import('./tools.ts'),
        import('./limits.ts'),
        import('./limits.ts'),
      ]);
      const folders = await openFolders(read, write, context.io.cwd);
      const tools = await makeTools(all, (table) => context.addDefaults(table, {}));
      await serveTools({ context, tools, folders, session: createSession(maxCredits) });
      return EXIT_CODES.done.code;
    },
  });
