/** Runs a command as a call of a tool: within the folders and the limit of the session, with its output as a result. */
import { Readable, Writable } from 'node:stream';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { Failure } from '../../base/failure.ts';
import { asFailure, failureDocument } from '../../base/failure-document.ts';
import { factsOf, type RawOptions } from '../../base/option.ts';
import { isNonFileInput } from '../../batch/inputs/candidate.ts';
import { invalidCallFailure } from '../context/command.ts';
import {
  type Context,
  Interruption,
  type Progress,
  type Spending,
  type Step,
  type Terminal,
  type WorkSummary,
} from '../context/context.ts';
import { outputTo } from '../context/output/forms.ts';
import { completeCommands } from '../context/printed-command.ts';
import { type AgentFolders, confinePath, type Session, sessionLimitFailure } from './limits.ts';
import {
  allowDefaults,
  type CommandCall,
  isArgumentOf,
  nameArguments,
  readArguments,
  type Tool,
  type ToolArguments,
  writeWords,
} from './tools.ts';

/** Result of a call; see `output` of the tool. */
export interface CallResult {
  readonly exit_code: number;
  readonly output: unknown;
  readonly text: string | null;
  readonly notes: readonly string[];
  readonly error: object | null;
  readonly session: { readonly spent_credits: number | null; readonly left_credits: number | null };
}

interface CallParts {
  /** The context of `vloc mcp` itself. */
  readonly context: Context;
  readonly folders: AgentFolders;
  readonly session: Session;
  /** Aborted when the client cancels the call or leaves. */
  readonly signal: AbortSignal;
  readonly report: (progress: CallProgress) => void;
}

/** Runs one call; failures of the command are part of the result. @throws the reason of the signal when that is aborted */
export async function callTool(tool: Tool, given: ToolArguments, parts: CallParts): Promise<CallResult> {
  const { session, signal } = parts;
  const notes: string[] = [];
  const printed: string[] = [];
  let failure: Failure | null = null;
  let code: number = EXIT_CODES.done.code;
  try {
    const asked = readArguments(tool, given);
    const run = async (spending?: Spending) => {
      // Paths are checked at the turn of the call: links can change while it waits.
      const defaults = await readDefaults(tool, asked, parts.context, notes);
      const call = await confineCall(tool, asked, defaults, parts.folders);
      return runCommand(tool, call, parts, { notes, printed, spending });
    };
    // Results of two calls at a time could be for the same folder.
    const isAlone = tool.effect === 'pays' || tool.effect === 'writes';
    code = await (isAlone ? session.pay(signal, run) : run());
  } catch (error) {
    signal.throwIfAborted();
    failure = toolCallFailure(error, tool, parts);
    code = EXIT_CODES[failure.facts.category].code;
    if (tool.effect === 'reads' && printed.length > 0 && STATES.has(failure.facts.code)) {
      notes.push(failure.message);
      failure = null;
    }
  }
  const text = printed.join('\n');
  const output = parseJson(text);
  return {
    exit_code: code,
    output,
    text: output === null && text !== '' ? text : null,
    notes: notes.map((note) => nameArguments(note, isArgumentOf(tool))),
    error: failure === null ? null : failureDocument(failure).error,
    session: { spent_credits: session.spent(), left_credits: session.left() },
  };
}

/** Codes of failures that are the state of a batch: a call that shows it has not failed. */
const STATES: ReadonlySet<string> = new Set(['BATCH_OPEN', 'SOME_FAILED']);

function toolCallFailure(error: unknown, tool: Tool, { context, session }: CallParts): Failure {
  const failure = error instanceof Failure ? error : asFailure(error);
  const { advice, message } = failure.facts;
  const isArgument = isArgumentOf(tool);
  const named = failure.with({
    message: nameArguments(message, isArgument),
    ...(advice === undefined ? {} : { advice: nameArguments(completeCommands(advice, context), isArgument) }),
  });
  return sessionLimitFailure(named, session.left());
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The defaults of the user for what the agent has not given. */
async function readDefaults(
  { command }: Tool,
  { options }: CommandCall,
  context: Context,
  notes: string[],
): Promise<RawOptions> {
  const filled = await context.addDefaults(command.options, options);
  const added = Object.entries(filled).filter(([name]) => options[name] === undefined);
  const { allowed, ignored } = allowDefaults(command, Object.fromEntries(added));
  if (ignored.length > 0) notes.push(`vloc.config.json sets ${ignored.join(', ')}; tools ignore that.`);
  return allowed;
}

/**
 * The call with absolute paths in the allowed folders; results go to the first writable one unless it or a default names
 * another.
 */
async function confineCall(
  { command }: Tool,
  { operands, options }: CommandCall,
  defaults: RawOptions,
  folders: AgentFolders,
): Promise<CommandCall> {
  const { paths } = command.operands ?? {};
  const chosen: Record<string, unknown> = { ...defaults, ...options };
  const confined: string[] = [];
  for (const operand of operands) {
    if (operand.startsWith('-')) {
      throw invalidCallFailure(
        `"${operand}" is not an input`,
        'Write a path that begins with ./ or another name.',
      );
    }
    const isFile = paths === 'results' || (paths !== undefined && !isNonFileInput(operand, paths));
    if (!isFile) confined.push(operand);
    else if (paths === 'results') confined.push(await confinePath(folders, operand, 'write'));
    else if (writesBeside(chosen)) confined.push(await confineVideo(folders, operand));
    else confined.push(await confinePath(folders, operand, 'read'));
  }
  for (const [name, option] of Object.entries(command.options)) {
    const { tool, value: placeholder } = factsOf(option);
    const value = chosen[name];
    const isGiven = options[name] !== undefined;
    if (tool === 'name' && isGiven && /[/\\]|^\.\.?$/.test(String(value))) {
      throw invalidCallFailure(`"${value}" names a folder`, 'Write a name without folders.');
    }
    if (tool === 'reads' && value !== undefined)
      chosen[name] = await confinePath(folders, String(value), 'read');
    if (tool !== 'writes') continue;
    const isFolder = placeholder === 'dir';
    if (value === undefined && !isFolder) continue;
    chosen[name] = await confinePath(folders, value === undefined ? '.' : String(value), 'write').catch(
      (error) => {
        throw isGiven || value === undefined ? error : outsideByDefault(error, name);
      },
    );
  }
  return { operands: confined, options: chosen };
}

/** Whether a localization leaves subtitles beside its videos. */
function writesBeside({ stopAfter, fromSubtitles, sourceSubtitle }: RawOptions): boolean {
  return stopAfter !== undefined || fromSubtitles === true || sourceSubtitle !== undefined;
}

/** The path of a video whose subtitles are written beside it: relative to the first readable folder, in a writable one. */
async function confineVideo(folders: AgentFolders, operand: string): Promise<string> {
  const path = await confinePath(folders, operand, 'read');
  return confinePath(folders, path, 'write').catch((error) => {
    if (!(error instanceof Failure)) throw error;
    const advice =
      'These stages write subtitles beside the video. Use `recognize`, then `translate`, whose results are in a writable folder, ' +
      'and pass the edited file as `subtitle`. Or ask the user to name the folder of the video with --write of `vloc mcp`.';
    throw error.with({ advice });
  });
}

function outsideByDefault(error: unknown, option: string): unknown {
  if (!(error instanceof Failure)) return error;
  const advice = `vloc.config.json sets it. Give ${option} with a writable folder; only the user can change the file, or allow the folder with --write.`;
  return error.with({ advice });
}

interface Collected {
  readonly notes: string[];
  readonly printed: string[];
  readonly spending: Spending | undefined;
}

async function runCommand(
  tool: Tool,
  call: CommandCall,
  { context: own, signal, report }: CallParts,
  { notes, printed, spending }: Collected,
): Promise<number> {
  const ended = new AbortController();
  const onAbort = () => ended.abort(new Interruption('SIGINT'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createCallTerminal(notes, report);
  const context: Context = {
    ...own,
    // The streams of the process belong to the protocol.
    io: { ...own.io, stdin: Readable.from([]), stdout: nowhere, stderr: nowhere },
    ...outputTo('json', (line) => printed.push(line), terminal),
    fields: null,
    terminal,
    signal: ended.signal,
    fail: (failure) => ended.abort(failure),
    onNextSignal: () => undefined,
    printed: async () => undefined,
    commandLine: writeWords(tool, call),
    ...(spending === undefined ? {} : { spending }),
  };
  try {
    const code = await tool.command.run(context, call.operands, call.options);
    if (ended.signal.reason instanceof Failure) throw ended.signal.reason;
    return code;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Progress of a call; `progress` grows from 0 to 1. */
export interface CallProgress {
  readonly progress: number;
  readonly message: string;
}

/** More than a person would read. */
const MOST_NOTES = 200;

/** The smallest step: each report must be higher than the one before. */
const LEAST_STEP = 1e-6;

/**
 * @param notes gets what the command reports to people
 * @param report called whenever something has changed
 */
export function createCallTerminal(notes: string[], report: (progress: CallProgress) => void): Terminal {
  let last = 0;
  let reported = '';
  const reportStep = (fraction: number, message: string) => {
    if (message === reported && fraction <= last) return;
    reported = message;
    last = Math.max(fraction, last + LEAST_STEP);
    report({ progress: last, message });
  };
  const note = (text: string) => {
    if (notes.length < MOST_NOTES && text.trim() !== '') notes.push(text.trim());
  };
  const cannotAsk = async (): Promise<never> => {
    throw invalidCallFailure(
      'the command asks a question, which cannot be answered here',
      'Ask the user to run it.',
    );
  };
  return {
    note,
    warn: note,
    detail: () => undefined,
    progress: async () => createFew(reportStep),
    board: async (look) => createMany(look, reportStep),
    table: async () => '',
    confirm: cannotAsk,
    ask: cannotAsk,
  };
}

type ReportStep = (fraction: number, message: string) => void;

function createFew(report: ReportStep): Progress {
  const fractions = new Map<string, number>();
  const share = () => [...fractions.values()].reduce((sum, each) => sum + each, 0) / fractions.size;
  return {
    show(key, step) {
      fractions.set(key, Math.max(fractions.get(key) ?? 0, shareOf(step)));
      report(Math.min(share(), MOST_UNFINISHED), describe(key, step));
    },
    end(key, outcome, text) {
      fractions.set(key, 1);
      report(Math.min(share(), MOST_UNFINISHED), `${key}: ${outcome}${text === '' ? '' : `: ${text}`}`);
    },
    close: () => undefined,
  };
}

/** Only the answer to the call reports that all is done. */
const MOST_UNFINISHED = 0.99;

function createMany(look: () => WorkSummary, report: ReportStep): Progress {
  const showAll = () => {
    const { counts, running: started } = look();
    const { done, failed, total, running } = counts;
    const partly = started.reduce((sum, { step }) => sum + shareOf(step), 0);
    const share = total === 0 ? 0 : (done + failed + partly) / total;
    const message = `${done} of ${total} done, ${failed} failed, ${running} running`;
    report(Math.min(share, MOST_UNFINISHED), message);
  };
  return { show: showAll, end: showAll, close: () => undefined };
}

/** The share of the whole work at which a phase starts, and that of the phase itself. Every other phase is work of the service. */
const PHASE_SHARES: Readonly<Record<string, readonly [number, number]>> = {
  reading: [0, 0],
  converting: [0, 0.1],
  cutting: [0, 0.1],
  uploading: [0.1, 0.1],
  validating: [0.2, 0],
  submitting: [0.2, 0],
  queued: [0.2, 0],
  downloading: [0.9, 0.05],
  joining: [0.95, 0.05],
  exporting: [0.95, 0.05],
};
const SERVICE_SHARE = [0.2, 0.7] as const;

function shareOf({ phase, fraction }: Step): number {
  const [start, share] = PHASE_SHARES[phase] ?? SERVICE_SHARE;
  return start + share * (fraction ?? 0);
}

function describe(key: string, { phase, fraction }: Step): string {
  return `${key}: ${phase}${fraction === null ? '' : ` ${Math.floor(fraction * 100)} %`}`;
}
