/** Serves tools over stdin and stdout with the Model Context Protocol. */

import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  fromJsonSchema,
  McpServer,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as v from 'valibot';
import type { ToolEffect } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { usesService } from '../context/printed-command.ts';
import { VERSION } from '../context/version.ts';
import { type CallProgress, type CallResult, callTool } from './call.ts';
import type { AgentFolders, Session } from './limits.ts';
import { createLineTransport } from './line-transport.ts';
import type { Tool, ToolArguments } from './tools.ts';

interface ServerParts {
  readonly context: Context;
  readonly tools: readonly Tool[];
  readonly folders: AgentFolders;
  readonly session: Session;
}

const HINTS: Readonly<Record<ToolEffect, ToolAnnotations>> = {
  reads: { readOnlyHint: true },
  writes: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  // Credits that are spent do not come back.
  pays: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  cancels: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

/** Answers until the client leaves or the signal is aborted; calls that still run are ended then. */
export async function serveTools(parts: ServerParts): Promise<void> {
  const { context } = parts;
  const { stdin, stdout } = context.io;
  const running = new Set<Promise<unknown>>();
  const gone = new AbortController();
  const over = Promise.withResolvers<void>();
  const leave = () => {
    gone.abort();
    over.resolve();
  };
  stdin.once('end', leave).once('close', leave);
  context.signal.addEventListener('abort', leave, { once: true });
  const handle = serveStdio(() => createServer(parts, gone.signal, running), {
    transport: createLineTransport(stdin, stdout),
    onerror: (error) => context.terminal.warn(error.message),
  });
  await over.promise;
  await Promise.allSettled(running);
  await handle.close();
}

function createServer(parts: ServerParts, gone: AbortSignal, running: Set<Promise<unknown>>): McpServer {
  const { context } = parts;
  const server = new McpServer({ name: 'vloc', version: VERSION }, { instructions: instructionsOf(parts) });
  for (const tool of parts.tools) {
    const call = async (given: unknown, { mcpReq }: ServerContext) => {
      const token = mcpReq._meta?.progressToken;
      const report = ({ progress, message }: CallProgress) => {
        if (token === undefined) return;
        const params = { progressToken: token, progress, total: 1, message };
        // The client may be gone; the call ends for another reason then.
        mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
      };
      const signal = AbortSignal.any([mcpReq.signal, gone]);
      // The schema of the tool admits objects only.
      const work = callTool(tool, given as ToolArguments, { ...parts, signal, report });
      running.add(work);
      try {
        return answerOf(await work, context.io.cwd);
      } finally {
        running.delete(work);
      }
    };
    server.registerTool(
      tool.name,
      {
        title: `vloc ${tool.words.join(' ')}`,
        description: tool.description,
        inputSchema: fromJsonSchema(tool.input),
        outputSchema: fromJsonSchema(tool.output),
        annotations: { ...HINTS[tool.effect], openWorldHint: usesService(tool.words) },
      },
      call,
    );
  }
  return server;
}

/** More would be no help in a conversation; `output` has all. */
const MOST_LINKS = 50;

/** Also as text, for clients that do not read structured content. */
function answerOf(result: CallResult, cwd: string) {
  const links = filesOf(result.output)
    .slice(0, MOST_LINKS)
    .map((path) => ({
      type: 'resource_link' as const,
      uri: pathToFileURL(resolve(cwd, path)).href,
      name: basename(path),
    }));
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(result) }, ...links],
    structuredContent: { ...result },
    isError: result.error !== null,
  };
}

const Delivered = v.object({
  data: v.array(v.object({ files: v.array(v.object({ path: v.string() })) })),
});

/** Paths of the results of a call. */
function filesOf(output: unknown): readonly string[] {
  const delivered = v.safeParse(Delivered, output);
  if (!delivered.success) return [];
  return delivered.output.data.flatMap(({ files }) => files.map(({ path }) => path));
}

function instructionsOf({ folders, session }: ServerParts): string {
  const left = session.left();
  return [
    'vloc translates and dubs videos.',
    `Readable folders: ${folders.readable.join(', ')}. Writable folders: ${folders.writable.join(', ')}.`,
    'Paths are relative to the first readable folder; those of results, also of a batch, to the first writable one.',
    left === null
      ? 'This session has no limit of credits: ask the user before every call that costs.'
      : `The new jobs of this session may cost ${left} credits; only the user can raise this.`,
    'Tools whose description says COSTS CREDITS need the consent of the user: show the plan of dry_run: true first.',
    'Review before dubbing: localize with stop_after, show and edit the subtitle files, then the same call with from_subtitles instead. If the videos cannot be written beside: recognize, translate, edit, then localize with subtitle.',
    'Long work: call with detach: true, then jobs_wait with the ids. An interrupted call continues when it is repeated.',
    'Every tool returns exit_code, output (the JSON of the command, or null), text (other output), notes, error and session.',
    'error is null or has code (stable), message, advice (do what it says) and retryable.',
    'session has spent_credits and left_credits: null if the service does not report what jobs cost, or without a limit.',
  ].join('\n');
}
