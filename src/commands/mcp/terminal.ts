/** What commands report to people, as notes and progress of a call. */
import { invalidCallFailure } from '../context/command.ts';
import type { Progress, Step, Terminal, WorkSummary } from '../context/context.ts';

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
  let said = '';
  const tell = (fraction: number, message: string) => {
    if (message === said && fraction <= last) return;
    said = message;
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
    progress: async () => createFew(tell),
    board: async (look) => createMany(look, tell),
    table: async () => '',
    confirm: cannotAsk,
    ask: cannotAsk,
  };
}

type Tell = (fraction: number, message: string) => void;

function createFew(tell: Tell): Progress {
  const fractions = new Map<string, number>();
  const share = () => [...fractions.values()].reduce((sum, each) => sum + each, 0) / fractions.size;
  return {
    show(key, step) {
      fractions.set(key, Math.max(fractions.get(key) ?? 0, shareOf(step)));
      tell(Math.min(share(), MOST_UNFINISHED), describe(key, step));
    },
    end(key, outcome, text) {
      fractions.set(key, 1);
      tell(Math.min(share(), MOST_UNFINISHED), `${key}: ${outcome}${text === '' ? '' : `: ${text}`}`);
    },
    close: () => undefined,
  };
}

/** The answer to the call is what says that all is done. */
const MOST_UNFINISHED = 0.99;

function createMany(look: () => WorkSummary, tell: Tell): Progress {
  const showAll = () => {
    const { counts, running: started } = look();
    const { done, failed, total, running } = counts;
    const partly = started.reduce((sum, { step }) => sum + shareOf(step), 0);
    const share = total === 0 ? 0 : (done + failed + partly) / total;
    const message = `${done} of ${total} done, ${failed} failed, ${running} running`;
    tell(Math.min(share, MOST_UNFINISHED), message);
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
