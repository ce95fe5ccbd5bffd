/** One cell of the matrix: a run of the command line that meets a fault at one step. */
import type { Fault } from './faults.ts';
import type { Ended, Stage } from './stage.ts';
import { beginsRun, type Step, waitsBefore } from './steps.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '-o', 'json'];

const COMMANDS: Readonly<Partial<Record<Step, readonly string[]>>> = {
  credits: ['credits', '-o', 'json'],
  list: ['jobs', 'list', '--kind', 'dubbing', '-o', 'json'],
};

export interface Played extends Ended {
  /** True when the run came to where the fault was. */
  readonly met: boolean;
}

interface Armed {
  met(): boolean;
  end(): Promise<void>;
}

/** True when the step belongs to a run that brings a result. */
export function isOfLocalization(step: Step): boolean {
  return step !== 'cancel' && COMMANDS[step] === undefined;
}

/** Lets the fault happen so many times, and gives what the run ended as. */
export async function play(stage: Stage, fault: Fault, step: Step, times: number): Promise<Played> {
  const words = step === 'cancel' ? await cancelWords(stage) : (COMMANDS[step] ?? LOCALIZE);
  stage.line.seen.length = 0;
  const armed = await arm(stage, fault, step, times);
  try {
    return { ...(await stage.run(words)), met: armed.met() };
  } finally {
    await armed.end();
    stage.line.spoil = () => null;
    stage.line.ahead = null;
    stage.engines.letGo();
  }
}

/** A job that is being worked on until the play is over. */
async function cancelWords(stage: Stage): Promise<readonly string[]> {
  stage.engines.hold();
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hola' }];
  const request = { subtitle: { type: 'lines', lines }, target_language: 'es' };
  const { json } = await stage.caller.post('/v1/dubbings', request);
  return ['jobs', 'cancel', `dubbings/${json.id}`, '-o', 'json'];
}

async function arm(stage: Stage, fault: Fault, step: Step, times: number): Promise<Armed> {
  const { line } = stage;
  const { does } = fault;
  let met = false;
  if (does.type === 'answer') {
    let left = times;
    line.spoil = (asked) => {
      if (asked !== step || left === 0) return null;
      left -= 1;
      met = true;
      return async (exchange) => {
        await does.spoil(exchange);
        if (does.isSilent === true) stage.timeIsUp();
      };
    };
    return { met: () => met, end: async () => {} };
  }
  let mend: (() => Promise<void>) | null = null;
  const begin = async () => {
    met = true;
    mend = await does.begin(stage);
  };
  const end = async () => {
    await mend?.();
    mend = null;
  };
  if (beginsRun(step)) await begin();
  else line.ahead = { step, run: begin };
  // Over at the first wait after somebody met it.
  let waits = waitsBefore(step) ? 2 : 1;
  if (times === 1) {
    stage.atSleep = async () => {
      if (mend !== null) waits -= 1;
      if (waits === 0) await end();
    };
  }
  return { met: () => met, end };
}
